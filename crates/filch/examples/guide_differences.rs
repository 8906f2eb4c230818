//! The differences of the scheduler from the original in Go, each as an assertion.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use filch::actors::RegisterError;
use filch::prelude::*;
use filch::scheduler::{
    Completion, Context, Event, Events, ExitReason, ExitRef, InitError, LifeCycle, Process,
    Protocol, Scheduler, StepOutput, SubmitError, from_fn,
};

enum Words {}

impl Protocol for Words {
    type Input = ();
    type Message = ();
    type Command = &'static str;
    type Reply = ();
    type Output = Vec<String>;
    type Error = String;
}

/// Each command, with the right to complete it, as the handler got it.
type Commands = mpsc::Receiver<(&'static str, Completion<Words>)>;

/// Starts a scheduler. Its commands go to the test, and so do the words of processes and hooks.
fn start(said: mpsc::Sender<&'static str>) -> Result<(Scheduler<Words>, Commands), Failure> {
    let (give, commands) = mpsc::channel();
    let handler = move |command, completion| {
        // If nobody listens any more, the completion is dropped, and the command fails.
        let _ = give.send((command, completion));
    };
    let builder = Scheduler::builder().workers(2).handler(handler);
    Ok((builder.hooks(Said(said)).build()?, commands))
}

type Failure = Box<dyn Error + Send + Sync>;

/// The time in which a process comes to rest, if it ever does.
const LIMIT: Duration = Duration::from_secs(10);

// ANCHOR: wait
/// Yields a command, waits, and ends with the names of the events of its next step.
fn waiter() -> impl Process<Words> {
    let mut has_asked = false;
    from_fn::<Words, _>(move |_context, events, out| {
        let names: Vec<_> = events.map(|event| format!("{event:?}")).collect();
        if std::mem::replace(&mut has_asked, true) {
            out.done(names);
        } else {
            out.yield_command(0, "asked");
            out.wait();
        }
        Ok(())
    })
}

fn a_message_does_not_wake_a_wait() -> Result<(), Failure> {
    let (scheduler, commands) = start(mpsc::channel().0)?;
    let waiter = scheduler.submit(waiter(), "run", ())?;
    let (_, completion) = commands.recv()?;
    scheduler.send(waiter.pid(), ())?;
    // Nothing can run any more, though it has a message.
    scheduler.wait_for_standstill_timeout(LIMIT)?;
    assert!(!waiter.has_ended());

    completion.complete(());
    let names = waiter.join()?;
    assert_eq!(names, ["Message(..)", "Completed { tag: 0, ok: true }"]);
    Ok(())
}
// ANCHOR_END: wait

// ANCHOR: silent
fn a_silent_step_idles() -> Result<(), Failure> {
    let (scheduler, _commands) = start(mpsc::channel().0)?;
    let mut steps = 0;
    let silent = from_fn(move |_context, events, out| {
        steps += 1;
        for event in events {
            if let Event::Cancel(_) = event {
                out.done(vec![steps.to_string()]);
            }
        }
        Ok(())
    });
    let silent = scheduler.submit(silent, "run", ())?;
    scheduler.wait_for_standstill_timeout(LIMIT)?;
    scheduler.cancel(silent.pid(), "enough")?;
    // The first step, and that of the cancel.
    assert_eq!(silent.join()?, ["2"]);
    Ok(())
}
// ANCHOR_END: silent

// ANCHOR: last
fn commands_of_a_last_step_are_dispatched() -> Result<(), Failure> {
    let (scheduler, commands) = start(mpsc::channel().0)?;
    let says_goodbye = from_fn(|_context, _events, out| {
        out.yield_command(0, "goodbye");
        out.done(Vec::new());
        Ok(())
    });
    scheduler.execute(says_goodbye, "run", ())?;
    let (command, completion) = commands.try_recv()?;
    // Nobody reads the answer.
    assert_eq!((command, completion.is_wanted()), ("goodbye", false));
    Ok(())
}
// ANCHOR_END: last

// ANCHOR: order
/// Reports when it is closed, and when it is dropped.
struct Mortal(mpsc::Sender<&'static str>);

impl Process<Words> for Mortal {
    fn init(&mut self, _: &Context<'_, Words>, _: &str, (): ()) -> Result<(), InitError<Words>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Words>,
        _: Events<'_, Words>,
        out: &mut StepOutput<Words>,
    ) -> Result<(), String> {
        out.done(Vec::new());
        Ok(())
    }

    fn close(&mut self, _: &ExitReason) {
        let _ = self.0.send("close");
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.0.send("drop");
    }
}

/// Reports when the hook was called.
struct Said(mpsc::Sender<&'static str>);

impl LifeCycle<Words> for Said {
    fn on_complete(&self, _: &Context<'_, Words>, _: &ExitReason, _: ExitRef<'_, Words>) {
        let _ = self.0.send("hook");
    }
}

fn close_then_drop_then_hook_then_join() -> Result<(), Failure> {
    let (say, said) = mpsc::channel();
    let (scheduler, _commands) = start(say.clone())?;
    scheduler.execute(Mortal(say.clone()), "run", ())?;
    say.send("join")?;
    assert_eq!(
        said.try_iter().collect::<Vec<_>>(),
        ["close", "drop", "hook", "join"]
    );
    Ok(())
}
// ANCHOR_END: order

// ANCHOR: name
fn a_taken_name_is_refused() -> Result<(), Failure> {
    let (scheduler, _commands) = start(mpsc::channel().0)?;
    let first = scheduler
        .submission(waiter(), "run", ())
        .name("clerk")
        .submit()?;
    let second = scheduler
        .submission(waiter(), "run", ())
        .name("clerk")
        .submit();
    let Err(SubmitError::NotAdmitted(error, refused)) = second else {
        return Err("the name is taken".into());
    };
    assert!(matches!(error.unmet(), Some(RegisterError::Taken { .. })));
    assert_eq!(scheduler.whereis("clerk"), Some(first.pid()));
    // Even for the process that has it.
    let again = scheduler.register("clerk", first.pid());
    assert!(matches!(again, Err(RegisterError::Taken { .. })));

    // The process comes back, and no method was called on it.
    let (process, input) = refused.into_inner();
    let _second = scheduler.submit(process, "run", input)?;
    Ok(())
}
// ANCHOR_END: name

// ANCHOR: places
fn places_wait_until_all_are_there() -> Result<(), Failure> {
    let (scheduler, commands) = start(mpsc::channel().0)?;
    let submission = scheduler.submission(waiter(), "run", ()).name("clerk");
    let (clerk, its_start) = submission.admit().map_err(|(error, _)| error)?;
    // It has its PID and its name, and takes messages. It does not run.
    assert_eq!(scheduler.whereis("clerk"), Some(clerk.pid()));
    scheduler.send(clerk.pid(), ())?;
    assert!(commands.try_recv().is_err());

    let _clerk = clerk.submit(its_start)?;
    assert_eq!(commands.recv()?.0, "asked");
    Ok(())
}
// ANCHOR_END: places

// ANCHOR: definitions
/// The processes that others of this program can become, by name.
const DEFINITIONS: [(&str, Definition); 1] = [("waiter", || Box::new(waiter()))];

type Definition = fn() -> Box<dyn Process<Words>>;

fn a_process_becomes_what_a_name_stands_for() -> Result<(), Failure> {
    let (scheduler, commands) = start(mpsc::channel().0)?;
    let caterpillar = from_fn(|_context, _events, out| {
        let definitions = HashMap::from(DEFINITIONS);
        let define = definitions.get("waiter").ok_or("no such definition")?;
        out.upgrade(define(), "run", ());
        Ok(())
    });
    let _process = scheduler.submit(caterpillar, "run", ())?;
    assert_eq!(commands.recv()?.0, "asked");
    Ok(())
}
// ANCHOR_END: definitions

// ANCHOR: figures
/// Counts its messages where others can read the count.
#[derive(Default)]
struct Counts(Arc<AtomicU64>);

impl Process<Words> for Counts {
    fn init(&mut self, _: &Context<'_, Words>, _: &str, (): ()) -> Result<(), InitError<Words>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Words>,
        events: Events<'_, Words>,
        _: &mut StepOutput<Words>,
    ) -> Result<(), String> {
        self.0.fetch_add(events.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

fn figures_are_read_beside_the_process() -> Result<(), Failure> {
    let (scheduler, _commands) = start(mpsc::channel().0)?;
    let counts = Counts::default();
    let figures = Arc::clone(&counts.0);
    let process = scheduler.submit(counts, "run", ())?;
    scheduler.send(process.pid(), ())?;
    scheduler.wait_for_standstill_timeout(LIMIT)?;
    assert_eq!(figures.load(Ordering::Relaxed), 1);
    Ok(())
}
// ANCHOR_END: figures

fn main() -> Result<(), Failure> {
    places_wait_until_all_are_there()?;
    a_process_becomes_what_a_name_stands_for()?;
    figures_are_read_beside_the_process()?;
    a_message_does_not_wake_a_wait()?;
    a_silent_step_idles()?;
    commands_of_a_last_step_are_dispatched()?;
    close_then_drop_then_hook_then_join()?;
    a_taken_name_is_refused()
}
