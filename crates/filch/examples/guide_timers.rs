//! Timers: a sleep, a deadline, an interval, and a clock that a test moves.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use filch::actors::timers::{Bounded, FakeClock, Timers};
use filch::prelude::*;
use filch::scheduler::{
    Completion, Event, JoinError, Process, ProcessError, Protocol, Scheduler, from_fn,
};

const MINUTE: Duration = Duration::from_secs(60);

// ANCHOR: protocol
enum Times {}

enum Command {
    Sleep(Duration),
    /// Ask somebody who may never answer.
    Ask,
}

impl Protocol for Times {
    type Input = ();
    type Message = &'static str;
    type Command = Command;
    type Reply = ();
    type Output = u32;
    type Error = String;
}

fn start(timers: Timers) -> Result<Scheduler<Times>, Box<dyn Error + Send + Sync>> {
    let unanswered: Arc<Mutex<Vec<Bounded<Times>>>> = Arc::default();
    let handler = move |command, completion: Completion<Times>| match command {
        Command::Sleep(delay) => {
            // Timers that are shut down hand the completion back. Its drop fails the command.
            let _ = timers.complete_after(delay, completion, ());
        }
        Command::Ask => {
            let error = "no answer in a minute".to_owned();
            let bounded = timers.deadline(timers.now() + MINUTE, completion, error);
            // An answer would complete it; here none comes.
            unanswered.lock().unwrap().extend(bounded);
        }
    };
    Ok(Scheduler::builder().workers(2).handler(handler).build()?)
}
// ANCHOR_END: protocol

// ANCHOR: processes
/// Yields one command, and ends when it is done.
fn waits_for(command: Command) -> impl Process<Times> {
    let mut command = Some(command);
    from_fn::<Times, _>(move |_context, events, out| {
        for event in events {
            if let Event::Completed { result, .. } = event {
                result.map_err(|error| error.to_string())?;
                out.done(1);
                return Ok(());
            }
        }
        if let Some(command) = command.take() {
            out.yield_command(0, command);
        }
        out.wait();
        Ok(())
    })
}

/// Ends with the third message.
fn counts_to_three() -> impl Process<Times> {
    let mut count = 0;
    from_fn::<Times, _>(move |_context, events, out| {
        count += events.len() as u32;
        if count >= 3 {
            out.done(count);
        }
        Ok(())
    })
}
// ANCHOR_END: processes

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: clock
    let clock = FakeClock::new(); // in a program that runs: Timers::new()
    let timers = Timers::with_clock(clock.clone())?;
    let scheduler = start(timers.clone())?;

    let sleeper = scheduler.submit(waits_for(Command::Sleep(60 * MINUTE)), "run", ())?;
    clock.block_until(1); // the process has yielded its command
    clock.advance(60 * MINUTE - Duration::from_nanos(1));
    assert!(!sleeper.has_ended());
    clock.advance(Duration::from_nanos(1));
    assert_eq!(sleeper.join()?, 1);
    // ANCHOR_END: clock

    // ANCHOR: deadline
    let asker = scheduler.submit(waits_for(Command::Ask), "run", ())?;
    clock.block_until(1);
    clock.advance(MINUTE);
    let Err(error) = asker.join() else {
        return Err("nobody has answered".into());
    };
    assert_eq!(
        error.failure().map(String::as_str),
        Some("no answer in a minute")
    );
    // ANCHOR_END: deadline

    // ANCHOR: interval
    let counter = scheduler.submit(counts_to_three(), "run", ())?;
    timers.interval(MINUTE, &scheduler, counter.pid(), || "tick")?;
    for _ in 0..3 {
        clock.advance(MINUTE);
    }
    assert_eq!(counter.join()?, 3);
    // ANCHOR_END: interval

    // ANCHOR: life
    let idler = scheduler
        .submission(counts_to_three(), "run", ())
        .deadline(timers.now() + MINUTE, &timers)
        .submit()?;
    clock.advance(MINUTE);
    let ended = idler.join();
    assert!(matches!(
        ended,
        Err(JoinError::Process(ProcessError::Terminated))
    ));

    let sleep = timers.sleep(MINUTE);
    let future = scheduler.spawn(sleep)?;
    clock.block_until(1);
    clock.advance(MINUTE);
    future.join()??;
    // ANCHOR_END: life
    Ok(())
}
