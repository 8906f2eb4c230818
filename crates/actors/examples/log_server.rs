//! A log that several processes write to: a process with a name and a bounded mailbox; writers that
//! are told when the mailbox is full, and try again; hooks that count failures; a shutdown at which
//! the log writes its last line.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, ExitReason, ExitRef, InitError, LifeCycle, Process, Protocol,
    Scheduler, StepOutput, Undelivered,
};

enum Logs {}

impl Protocol for Logs {
    /// The writer's number; the log ignores it.
    type Input = usize;
    type Message = String;
    type Command = ();
    type Reply = ();
    /// The number of lines written.
    type Output = usize;
    type Error = String;
}

/// Collects lines until it is cancelled.
#[derive(Default)]
struct Log {
    lines: usize,
}

impl Process<Logs> for Log {
    fn init(&mut self, _: &Context<'_, Logs>, _: &str, _: usize) -> Result<(), InitError<Logs>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Logs>,
        events: Events<'_, Logs>,
        out: &mut StepOutput<Logs>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(_line) => self.lines += 1,
                // Behind all lines that were sent before.
                Event::Cancel(_) => out.done(self.lines),
                _ => {}
            }
        }
        Ok(())
    }
}

const LINES: usize = 1_000;
const WRITERS: usize = 4;

/// Writes lines to the process called "log".
#[derive(Default)]
struct Writer {
    number: usize,
    written: usize,
}

impl Process<Logs> for Writer {
    fn init(
        &mut self,
        _: &Context<'_, Logs>,
        _: &str,
        number: usize,
    ) -> Result<(), InitError<Logs>> {
        self.number = number;
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Logs>,
        _: Events<'_, Logs>,
        out: &mut StepOutput<Logs>,
    ) -> Result<(), String> {
        let log = context.handle().whereis("log").ok_or("there is no log")?;
        while self.written < LINES {
            let line = format!("writer {}, line {}", self.number, self.written);
            match context.send(log, line) {
                Ok(()) => self.written += 1,
                Err(error) if matches!(error.reason, Undelivered::Full { .. }) => {
                    // After the others: the log among them.
                    out.go_on();
                    return Ok(());
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        out.done(self.written);
        Ok(())
    }
}

/// Counts the ends that were not normal.
struct Failures(Arc<AtomicUsize>);

impl LifeCycle<Logs> for Failures {
    fn on_complete(&self, context: &Context<'_, Logs>, reason: &ExitReason, _: ExitRef<'_, Logs>) {
        if !reason.is_normal() {
            self.0.fetch_add(1, Ordering::Relaxed);
            eprintln!("process {} {reason}", context.pid());
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let failures = Arc::new(AtomicUsize::new(0));
    let scheduler = Scheduler::<Logs>::builder()
        .workers(2)
        .hooks(Failures(Arc::clone(&failures)))
        .build()?;
    let log = scheduler
        .submission(Log::default(), "write", 0)
        .mailbox(100)
        .submit()?;
    scheduler.register("log", log.pid())?;

    let mut writers = Vec::new();
    for number in 0..WRITERS {
        writers.push(scheduler.submit(Writer::default(), "write", number)?);
    }
    for writer in writers {
        assert_eq!(writer.join()?, LINES);
    }

    let report = scheduler.shutdown(Duration::from_secs(10))?;
    assert_eq!((report.cancelled, report.aborted), (1, 0));
    assert_eq!(log.join()?, WRITERS * LINES);
    assert_eq!(failures.load(Ordering::Relaxed), 0);
    Ok(())
}
