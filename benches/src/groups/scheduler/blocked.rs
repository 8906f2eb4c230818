//! Messages to somebody who waits for something else: they are kept, and wake nobody.

use std::sync::{Arc, Mutex, PoisonError};

use filch_scheduler::{
    Completion, Context, Event, Events, Handle, InitError, Pid, Process, ProcessHandle, Scheduler,
    StepOutput,
};
use tokio::sync::{mpsc, oneshot};

use super::contenders::{Numbers, Tokio};
use crate::rivals::{WORKERS, tokio_runtime};

/// What has processes that wait.
pub(super) trait Waiters: 'static {
    /// One that waits. Dropping it ends the wait, and blocks until all that was sent is read.
    type Waiter;

    fn new() -> Self;
    fn waiter(&self, messages: u64) -> Self::Waiter;
    fn send(to: &Self::Waiter, message: u64);
    /// Ends the wait, and checks that every message arrived.
    fn release(&self, waiter: Self::Waiter);
}

type Outstanding = Arc<Mutex<Option<Completion<Numbers>>>>;

/// The scheduler, and the command that its process has outstanding.
pub(super) struct FilchWaiters {
    scheduler: Scheduler<Numbers>,
    outstanding: Outstanding,
}

/// Waits for one command, then for its messages.
struct Waiter {
    started: bool,
    missing: u64,
}

impl Process<Numbers> for Waiter {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        messages: u64,
    ) -> Result<(), InitError<Numbers>> {
        self.missing = messages;
        Ok(())
    }

    fn step(
        &mut self,
        _context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        if !self.started {
            self.started = true;
            out.yield_command(0, ());
            out.wait();
            return Ok(());
        }
        for event in events {
            self.missing -= u64::from(matches!(event, Event::Message(_)));
        }
        if self.missing == 0 {
            out.done(0);
        }
        Ok(())
    }
}

impl Waiters for FilchWaiters {
    type Waiter = (Handle<Numbers>, Pid, ProcessHandle<Numbers>);

    fn new() -> Self {
        let outstanding = Outstanding::default();
        let scheduler = Scheduler::builder().workers(WORKERS).handler({
            let outstanding = Arc::clone(&outstanding);
            move |(), completion| {
                *outstanding.lock().unwrap_or_else(PoisonError::into_inner) = Some(completion);
            }
        });
        Self {
            scheduler: scheduler.build().expect("the system gives threads"),
            outstanding,
        }
    }

    fn waiter(&self, messages: u64) -> Self::Waiter {
        let waiter = Waiter {
            started: false,
            missing: 0,
        };
        let process = self.scheduler.submit(waiter, "run", messages);
        let process = process.unwrap_or_else(|error| panic!("{error}"));
        let waits = || {
            let outstanding = self.outstanding.lock();
            outstanding
                .unwrap_or_else(PoisonError::into_inner)
                .is_some()
        };
        while !waits() {
            std::thread::yield_now();
        }
        (self.scheduler.handle(), process.pid(), process)
    }

    fn send((scheduler, to, _): &Self::Waiter, message: u64) {
        scheduler.send(*to, message).expect("it waits");
    }

    fn release(&self, (_, _, process): Self::Waiter) {
        let mut outstanding = self
            .outstanding
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        outstanding.take().expect("it waits").complete(());
        drop(outstanding);
        process.join().expect("it gets its messages");
    }
}

pub(super) struct TokioWaiter {
    address: mpsc::UnboundedSender<u64>,
    go: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Waiters for Tokio {
    type Waiter = TokioWaiter;

    fn new() -> Self {
        tokio_runtime()
    }

    fn waiter(&self, messages: u64) -> TokioWaiter {
        let (address, mut mailbox) = mpsc::unbounded_channel();
        let (go, gone) = oneshot::channel();
        let task = self.spawn(async move {
            gone.await.expect("it is told to go on");
            for _ in 0..messages {
                mailbox.recv().await.expect("as many were sent");
            }
        });
        TokioWaiter { address, go, task }
    }

    fn send(to: &TokioWaiter, message: u64) {
        to.address.send(message).expect("it waits");
    }

    fn release(&self, waiter: TokioWaiter) {
        waiter.go.send(()).expect("it waits");
        self.block_on(waiter.task).expect("it gets its messages");
    }
}
