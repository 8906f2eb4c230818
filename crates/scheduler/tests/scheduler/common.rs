//! A protocol for tests, and a process whose step is a closure.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use filch_scheduler::{
    Completion, Context, Event, Events, ExitReason, Handle, InitError, JoinError, Process,
    ProcessError, ProcessHandle, Protocol, Scheduler, StepOutput,
};

pub(crate) enum Test {}

impl Protocol for Test {
    type Input = u64;
    type Message = (usize, u64);
    type Command = Command;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

pub(crate) enum Command {
    /// Reply with this, on the spot.
    Echo(u64),
    /// Reply with this, from another thread.
    EchoLater(u64),
    /// Fail with this.
    Fail(&'static str),
    /// Drop the completion.
    Forget,
    /// Panic.
    Panic,
    /// Panic after completing.
    CompleteThenPanic(u64),
    /// Give the completion to the test.
    Give(std::sync::mpsc::Sender<Completion<Test>>),
}

/// A protocol whose messages are counted while they live.
pub(crate) enum Counted {}

impl Protocol for Counted {
    type Input = ();
    type Message = Arc<()>;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

pub(crate) fn handle(command: Command, completion: Completion<Test>) {
    match command {
        Command::Echo(value) => completion.complete(value),
        Command::EchoLater(value) => {
            thread::spawn(move || completion.complete(value));
        }
        Command::Fail(message) => completion.fail(message.to_owned()),
        Command::Forget => drop(completion),
        Command::Panic => panic!("the handler's message"),
        Command::CompleteThenPanic(value) => {
            completion.complete(value);
            panic!("too late to matter");
        }
        Command::Give(to) => to.send(completion).unwrap(),
    }
}

pub(crate) fn scheduler(workers: usize) -> Scheduler<Test> {
    Scheduler::builder()
        .workers(workers)
        .handler(handle)
        .build()
        .unwrap()
}

pub(crate) type Stepped = Result<(), String>;

type Step =
    dyn FnMut(&Context<'_, Test>, Vec<Event<Test>>, &mut StepOutput<Test>) -> Stepped + Send;

/// Calls its closure with the events of each step. Counts its closes.
pub(crate) struct Scripted {
    step: Box<Step>,
    closed: Arc<AtomicUsize>,
}

/// Makes a process whose steps are calls of that closure, which returns nothing if none can fail.
pub(crate) fn scripted<R: IntoStepped>(
    mut step: impl FnMut(&Context<'_, Test>, Vec<Event<Test>>, &mut StepOutput<Test>) -> R
    + Send
    + 'static,
) -> Scripted {
    Scripted {
        step: Box::new(move |context, events, out| step(context, events, out).into_stepped()),
        closed: Arc::default(),
    }
}

/// Submits a process whose steps are calls of that closure.
pub(crate) fn start<R, F>(scheduler: &Handle<Test>, step: F) -> ProcessHandle<Test>
where
    R: IntoStepped,
    F: FnMut(&Context<'_, Test>, Vec<Event<Test>>, &mut StepOutput<Test>) -> R + Send + 'static,
{
    scheduler.submit(scripted(step), "run", 0).unwrap()
}

pub(crate) trait IntoStepped {
    fn into_stepped(self) -> Stepped;
}

impl IntoStepped for () {
    fn into_stepped(self) -> Stepped {
        Ok(())
    }
}

impl IntoStepped for Stepped {
    fn into_stepped(self) -> Stepped {
        self
    }
}

impl Scripted {
    /// The count of `close` calls, to look at afterwards.
    pub(crate) fn closed(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.closed)
    }
}

impl Process<Test> for Scripted {
    fn init(&mut self, _: &Context<'_, Test>, method: &str, _: u64) -> Result<(), InitError<Test>> {
        match method {
            "run" => Ok(()),
            "fail" => Err(InitError::Failed("init does not want to".to_owned())),
            "panic" => panic!("init's message"),
            _ => Err(InitError::unknown_method(method, &["run", "fail", "panic"])),
        }
    }

    fn step(
        &mut self,
        context: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        (self.step)(context, events.collect(), out)
    }

    fn close(&mut self, _: &ExitReason) {
        self.closed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes a process with that `init`. It is done with 1 in its first step.
pub(crate) fn beginning<F>(init: F) -> impl Process<Test> + 'static
where
    F: FnOnce(&Context<'_, Test>) -> Result<(), InitError<Test>> + Send + 'static,
{
    Beginning(Some(init))
}

struct Beginning<F>(Option<F>);

impl<F> Process<Test> for Beginning<F>
where
    F: FnOnce(&Context<'_, Test>) -> Result<(), InitError<Test>> + Send,
{
    fn init(
        &mut self,
        context: &Context<'_, Test>,
        _: &str,
        _: u64,
    ) -> Result<(), InitError<Test>> {
        self.0.take().unwrap()(context)
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        _: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        out.done(1);
        Ok(())
    }
}

/// Makes a process that waits for `n` messages and is done with the sum of their numbers.
pub(crate) fn summing(n: u64) -> Scripted {
    let (mut seen, mut sum) = (0, 0);
    scripted(move |_, events, out| {
        for event in events {
            if let Event::Message((_, value)) = event {
                seen += 1;
                sum += value;
            }
        }
        if seen == n {
            out.done(sum);
        } else {
            out.idle();
        }
    })
}

/// A process that does nothing until it is cancelled, and is then done with 0.
pub(crate) fn waiting() -> Scripted {
    scripted(|_, events, out| {
        if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
            out.done(0);
        } else {
            out.idle();
        }
    })
}

#[track_caller]
pub(crate) fn assert_terminated<P: Protocol, H, T>(ended: Result<T, JoinError<P, H>>) {
    match ended {
        Err(JoinError::Process(ProcessError::Terminated)) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it ended by itself"),
    }
}

pub(crate) fn closed_once(closed: &AtomicUsize) -> bool {
    closed.load(Ordering::Relaxed) == 1
}

/// Waits until the value has been dropped: by a worker that is leaving, say.
#[track_caller]
pub(crate) fn until_dropped(weak: &Weak<()>) {
    until(|| weak.strong_count() == 0);
}

/// Waits until that holds, which it does soon or never.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONGEST, "it has not come");
        thread::yield_now();
    }
}

/// Far longer than any worker takes to come to something: a test that waits so long has failed.
const LONGEST: Duration = Duration::from_secs(60);
