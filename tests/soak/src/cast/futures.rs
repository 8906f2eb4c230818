//! Futures: they sleep, wait to be woken, await each other, panic, and are aborted.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{JoinHandle, SpawnError};
use filch_scheduler::{Handle, NotAdmitted, ProcessError};

use crate::account::{Count, Flag, Happening, Kind, Token, complain, dispose, lock, note};
use crate::cast::{Parcel, Roster, Soak, World};
use crate::plan::{FutureEnd, FutureRole, KeepFuture};
use crate::random::Random;

/// The accounts of one future.
pub(crate) struct Fate {
    role: FutureRole,
    pub(crate) aborted: Flag,
    told: Count,
}

/// A spawned future, which is to be joined.
pub(crate) struct Spawned {
    pub(crate) fate: Arc<Fate>,
    pub(crate) handle: JoinHandle<Soak, Parcel>,
}

impl Fate {
    /// Checks its exit.
    pub(crate) fn ended(&self, exit: &Result<Parcel, ProcessError<Soak>>, shutting: bool) {
        if self.told.add(1) != 0 {
            complain("a future ended twice");
        }
        let (is_right, happening) = match exit {
            Ok(output) => {
                let is_own = output.number == self.role.seed;
                let is_ready = self.role.end != FutureEnd::Panics;
                (is_own && is_ready, Happening::FutureEnded)
            }
            Err(ProcessError::Terminated) => (self.aborted.is_up(), Happening::FutureAborted),
            Err(ProcessError::Panicked(_)) => {
                (self.role.end != FutureEnd::Ready, Happening::FuturePanicked)
            }
            Err(ProcessError::ShutDown) => (shutting, Happening::EndedShutDown),
            Err(_) => (false, Happening::FuturePanicked),
        };
        note(happening);
        if !is_right {
            let exit = exit.as_ref().map(|output| output.number);
            let (role, exit) = (self.role, exit.map_err(ToString::to_string));
            complain(format!("a future ended with {exit:?}: {role:?}"));
        }
    }
}

/// Spawns a future of that role.
pub(crate) fn spawn(world: &Arc<World>, handle: &Handle<Soak>, role: FutureRole) {
    let awaited = match role.keep {
        KeepFuture::Await => lock(&world.futures).pop(),
        KeepFuture::Join | KeepFuture::Forget => None,
    };
    let is_bomb = role.end == FutureEnd::DestructorPanics;
    let token = Token::maybe_bomb(Kind::Future, is_bomb);
    let future = Counted {
        roster: Arc::clone(&world.roster),
        body: Box::pin(body(Arc::clone(world), role, awaited)),
        _token: token,
    };
    let fate = Arc::new(Fate {
        role,
        aborted: Flag::default(),
        told: Count::new(),
    });
    match handle.spawn(future) {
        Ok(handle) => {
            note(Happening::Spawned);
            if role.keep != KeepFuture::Forget {
                lock(&world.futures).push(Spawned { fate, handle });
            }
        }
        Err(error) => {
            let is_right = match &error {
                SpawnError::NotAdmitted(NotAdmitted::ShutDown, _) => world.shutting.is_up(),
                SpawnError::NotAdmitted(NotAdmitted::LimitReached(limit), _) => {
                    world.limit == Some(limit.get())
                }
                _ => false,
            };
            if !is_right {
                complain(format!("a future was refused: {error}"));
            }
            dispose(error);
        }
    }
}

async fn body(world: Arc<World>, role: FutureRole, awaited: Option<Spawned>) -> Parcel {
    let mut random = Random::new(role.seed);
    for _ in 0..role.waits {
        match random.below(3) {
            0 => Yielding(false).await,
            1 => {
                let delay = Duration::from_micros(random.below(800));
                // Closed timers, during a shutdown, end the wait as well.
                let _ = world.timers.sleep(delay).await;
            }
            _ => world.tide.turn(random.percent(50)).await,
        }
    }
    if let Some(Spawned { fate, handle }) = awaited {
        let exit = handle.await;
        fate.ended(&exit, world.shutting.is_up());
        dispose(exit);
    }
    assert!(role.end != FutureEnd::Panics, "soak: a future");
    Parcel::new(Kind::Output, role.seed, role.output_bomb)
}

/// Counts the polls of a future, each of which is a step.
struct Counted {
    roster: Arc<Roster>,
    body: Pin<Box<dyn Future<Output = Parcel> + Send>>,
    // Here and not in the body: if a destructor panics at a function's end, rustc forgets what the
    // function returns (rust-lang/rust 47949).
    _token: Token,
}

impl Future for Counted {
    type Output = Parcel;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Parcel> {
        self.roster.steps.add(1);
        self.body.as_mut().poll(context)
    }
}

/// A future that is pending once, and wakes itself at once.
struct Yielding(bool);

impl Future for Yielding {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A place where futures wait until somebody, anywhere, wakes all of them.
#[derive(Default)]
pub(crate) struct Tide(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    /// The number of its turns.
    turns: u64,
    is_open: bool,
    wakers: Vec<Waker>,
}

impl Tide {
    /// Waits for the next turn. `twice`: leaves two wakers at each poll.
    fn turn(&self, twice: bool) -> impl Future<Output = ()> + Send {
        let began = lock(&self.0).turns;
        std::future::poll_fn(move |context| {
            let mut waiting = lock(&self.0);
            if waiting.is_open || waiting.turns != began {
                return Poll::Ready(());
            }
            waiting.wakers.push(context.waker().clone());
            if twice {
                waiting.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
    }

    /// Wakes all that wait.
    pub(crate) fn wake(&self) {
        let wakers = {
            let mut waiting = lock(&self.0);
            waiting.turns += 1;
            std::mem::take(&mut waiting.wakers)
        };
        for (index, waker) in wakers.into_iter().enumerate() {
            if index % 2 == 0 {
                waker.wake();
            } else {
                waker.wake_by_ref();
                waker.wake_by_ref();
            }
        }
    }

    /// Lets nobody wait from now on.
    pub(crate) fn open(&self) {
        lock(&self.0).is_open = true;
        self.wake();
    }
}
