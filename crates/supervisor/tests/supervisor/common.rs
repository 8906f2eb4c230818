//! A vocabulary, processes that note their lives, and a stage for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_scheduler::{
    Context, Event, Events, ExitReason, Handle, InitError, Pid, Process, Protocol, Scheduler,
    StepOutput,
};
use filch_supervisor::{Child, ChildError, ChildInfo, Supervisor, SupervisorHandle};

pub(crate) enum Test {}

impl Protocol for Test {
    type Input = ();
    type Message = Order;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// An order of a test to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// End normally.
    Finish,
    /// End otherwise.
    Fail,
}

/// Notes its start, each request to end, and its end: `+a`, `?a`, `-a: done`.
#[derive(Clone)]
pub(crate) struct Actor {
    name: String,
    notes: Sender<String>,
    /// Set if it ends when it is asked to.
    heeds: bool,
    /// Set if it starts.
    starts: bool,
}

impl Process<Test> for Actor {
    fn init(&mut self, _: &Context<'_, Test>, _: &str, (): ()) -> Result<(), InitError<Test>> {
        if !self.starts {
            return Err(InitError::Failed("it does not want to".to_owned()));
        }
        self.note(format!("+{}", self.name));
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        out.idle();
        for event in events {
            match event {
                Event::Message(Order::Finish) => out.done(()),
                Event::Message(Order::Fail) => return Err("broken".to_owned()),
                Event::Cancel(_) if self.heeds => out.done(()),
                Event::Cancel(_) => self.note(format!("?{}", self.name)),
                _ => {}
            }
        }
        Ok(())
    }

    fn close(&mut self, reason: &ExitReason) {
        if self.starts {
            let reason = match reason {
                ExitReason::Linked { .. } => "linked".to_owned(),
                reason => reason.to_string(),
            };
            self.note(format!("-{}: {reason}", self.name));
        }
    }
}

impl Actor {
    fn note(&self, note: String) {
        // The test may be over.
        let _ = self.notes.send(note);
    }
}

/// A scheduler, a clock that stands still, and the notes of processes.
pub(crate) struct Stage {
    pub(crate) scheduler: Scheduler<Test>,
    pub(crate) clock: FakeClock,
    pub(crate) timers: Timers,
    notes: Sender<String>,
    noted: Receiver<String>,
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Far longer than any step takes: a test that waits so long has failed.
const LONGEST: Duration = Duration::from_secs(60);

impl Stage {
    pub(crate) fn new() -> Self {
        let clock = FakeClock::new();
        let (notes, noted) = channel();
        Self {
            scheduler: Scheduler::builder().workers(2).build().unwrap(),
            timers: Timers::with_clock(clock.clone()).unwrap(),
            clock,
            notes,
            noted,
        }
    }

    /// Makes a child that ends when it is asked to.
    pub(crate) fn child(&self, name: &str) -> Child<Test> {
        self.unwilling(name, usize::MAX)
    }

    /// Makes a child that does not.
    pub(crate) fn stubborn(&self, name: &str) -> Child<Test> {
        let mut actor = self.actor(name);
        actor.heeds = false;
        Child::new(name, move |scheduler: &Handle<Test>| {
            scheduler.submission(actor.clone(), "run", ())
        })
    }

    /// Makes a child whose life of that number, from 0, does not start.
    pub(crate) fn unwilling(&self, name: &str, nth: usize) -> Child<Test> {
        self.makers(name, nth)()
    }

    /// Returns a maker of such children. They count their lives together.
    pub(crate) fn makers(
        &self,
        name: &str,
        nth: usize,
    ) -> impl Fn() -> Child<Test> + Send + 'static + use<> {
        let (actor, lives) = (self.actor(name), Arc::new(AtomicUsize::new(0)));
        move || {
            let (actor, lives) = (actor.clone(), Arc::clone(&lives));
            let name = actor.name.clone();
            Child::new(&name, move |scheduler: &Handle<Test>| {
                let mut actor = actor.clone();
                actor.starts = lives.fetch_add(1, Ordering::Relaxed) != nth;
                scheduler.submission(actor, "run", ())
            })
        }
    }

    /// Makes a child without a name.
    pub(crate) fn unnamed(&self) -> Child<Test> {
        let actor = self.actor("");
        Child::unnamed(move |scheduler: &Handle<Test>| {
            scheduler.submission(actor.clone(), "run", ())
        })
    }

    pub(crate) fn actor(&self, name: &str) -> Actor {
        Actor {
            name: name.to_owned(),
            notes: self.notes.clone(),
            heeds: true,
            starts: true,
        }
    }

    pub(crate) fn start(&self, supervisor: Supervisor<Test>) -> SupervisorHandle<Test> {
        let started = supervisor.start(&self.scheduler, &self.timers).unwrap();
        started.wait().unwrap()
    }

    pub(crate) fn pid(&self, name: &str) -> Pid {
        self.scheduler.whereis(name).expect("it lives")
    }

    pub(crate) fn order(&self, name: &str, order: Order) {
        self.scheduler.send(self.pid(name), order).unwrap();
    }

    /// Checks that the next notes are these, in this order.
    #[track_caller]
    pub(crate) fn expect<const N: usize>(&self, notes: [&str; N]) {
        for note in notes {
            assert_eq!(self.next(), note);
        }
    }

    /// Returns the next note.
    #[track_caller]
    pub(crate) fn next(&self) -> String {
        self.noted
            .recv_timeout(LONGEST)
            .expect("something is noted")
    }

    /// Checks that there are no more notes.
    #[track_caller]
    pub(crate) fn expect_no_more(&self) {
        assert_eq!(self.noted.try_recv().ok(), None);
    }
}

/// Returns the children's names.
pub(crate) fn names(children: &[ChildInfo]) -> Vec<&str> {
    let names = children.iter().map(|child| child.name.as_deref());
    names.map(Option::unwrap_or_default).collect()
}

/// Returns the facts about a child, by its name.
pub(crate) fn info(supervisor: &SupervisorHandle<Test>, name: &str) -> ChildInfo {
    let children = supervisor.children().wait().unwrap();
    let mut named = children
        .into_iter()
        .filter(|child| child.name.as_deref() == Some(name));
    named.next().expect("it is a child")
}

/// Waits until that is so: a supervisor hears of an end a moment after the process notes it.
#[track_caller]
pub(crate) fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONGEST, "it never comes to that");
        thread::yield_now();
    }
}

/// Waits until the supervisor has handled all events so far: it takes a request when it has nothing
/// else to do.
pub(crate) fn settle(supervisor: &SupervisorHandle<Test>) {
    let answer = supervisor.end_child("nobody").wait();
    assert_eq!(answer, Err(ChildError::Unknown));
}
