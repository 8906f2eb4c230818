//! Whole schedulers with one or two workers: submissions, sends, completions, cancels and shutdowns
//! at the same time.

mod asks;
mod backlog;
mod calls;
mod commands;
mod futures;
mod lives;
mod mailboxes;
mod messages;
mod monitors;
mod services;
mod shutdown;
mod standstill;
mod supervisors;
mod terminate;

use std::time::Duration;

use filch_actors::Caller;
use filch_scheduler::{
    Completion, Context, Event, Events, ExitReason, InitError, Pid, Process, Protocol, Scheduler,
    StepOutput,
};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};

/// No limit. There is no time in these tests: other limits end whenever the schedule likes.
const FOR_EVER: Duration = Duration::MAX;

/// The protocol: numbers. A command asks for its number back.
enum Numbers {}

#[derive(Debug)]
enum Note {
    Number(usize),
    /// A question from a thread that waits for a number.
    Ask(usize, Caller<usize>),
    /// The player to play with.
    Partner(Pid),
    /// A value with a slow destructor.
    Slow(SlowToDrop),
}

/// Lets others run while it is dropped.
#[derive(Debug)]
struct SlowToDrop;

impl Drop for SlowToDrop {
    fn drop(&mut self) {
        (0..3).for_each(|_| shuttle::thread::yield_now());
    }
}

impl Protocol for Numbers {
    type Input = ();
    type Message = Note;
    type Command = usize;
    type Reply = usize;
    type Output = usize;
    type Error = String;
}

fn scheduler(
    workers: usize,
    handle: impl Fn(usize, Completion<Numbers>) + Send + Sync + 'static,
) -> Scheduler<Numbers> {
    Scheduler::builder()
        .workers(workers)
        .handler(handle)
        .build()
        .unwrap()
}

/// Makes a scheduler whose commands are answered on the spot.
fn prompt_scheduler(workers: usize) -> Scheduler<Numbers> {
    scheduler(workers, |number, completion| completion.complete(number))
}

/// Counts closed processes, for the test to read afterwards.
#[derive(Clone)]
struct Closed(Arc<AtomicUsize>);

impl Closed {
    fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(0)))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

type Step = dyn FnMut(&Context<'_, Numbers>, Vec<Event<Numbers>>, &mut StepOutput<Numbers>) + Send;

/// A process whose step is a closure, and so may be a part of its `init`.
struct Scripted {
    init: Box<dyn FnMut(Pid) -> Result<(), String> + Send>,
    step: Box<Step>,
    closed: Closed,
}

impl Scripted {
    fn that_begins(self, init: impl FnMut(Pid) -> Result<(), String> + Send + 'static) -> Self {
        Self {
            init: Box::new(init),
            ..self
        }
    }
}

fn scripted(
    closed: &Closed,
    step: impl FnMut(&Context<'_, Numbers>, Vec<Event<Numbers>>, &mut StepOutput<Numbers>)
    + Send
    + 'static,
) -> Scripted {
    Scripted {
        init: Box::new(|_| Ok(())),
        step: Box::new(step),
        closed: closed.clone(),
    }
}

impl Process<Numbers> for Scripted {
    fn init(
        &mut self,
        context: &Context<'_, Numbers>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Numbers>> {
        (self.init)(context.pid()).map_err(InitError::Failed)
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        (self.step)(context, events.collect(), out);
        Ok(())
    }

    fn close(&mut self, _: &ExitReason) {
        self.closed.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Ends with the sum of `count` messages, or more if they come together. A message is
/// `10 * sender + number`; those of each sender must come in ascending order.
fn summing(closed: &Closed, count: usize) -> Scripted {
    let (mut seen, mut sum, mut last) = (0, 0, [None; 4]);
    scripted(closed, move |_, events, out| {
        for event in events {
            let Event::Message(Note::Number(message)) = event else {
                panic!("{event:?}")
            };
            let before = last[message / 10].replace(message % 10);
            assert!(
                before < Some(message % 10),
                "overtaken: {before:?} before {message}"
            );
            seen += 1;
            sum += message;
        }
        if seen >= count {
            out.done(sum);
        } else {
            out.idle();
        }
    })
}

/// Ends with 7 when it is cancelled, and waits until then.
fn until_cancelled(closed: &Closed) -> Scripted {
    scripted(closed, |_, events, out| {
        if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
            out.done(7);
        } else {
            out.idle();
        }
    })
}
