//! A process that waits for another one, by a command: no worker and no thread waits.

use filch_actors::execute_for;
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
};

enum Family {}

impl Protocol for Family {
    type Input = u64;
    type Message = ();
    /// The generation of the wanted child.
    type Command = u64;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// Has a child, unless it is the last of its line, and counts the generations from there.
#[derive(Default)]
struct Parent(u64);

impl Process<Family> for Parent {
    fn init(
        &mut self,
        _: &Context<'_, Family>,
        _: &str,
        left: u64,
    ) -> Result<(), InitError<Family>> {
        self.0 = left;
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Family>,
        mut events: Events<'_, Family>,
        out: &mut StepOutput<Family>,
    ) -> Result<(), String> {
        if let Some(Event::Completed { result, .. }) = events.next() {
            out.done(1 + result.map_err(|error| error.to_string())?);
        } else if self.0 == 0 {
            out.done(1);
        } else {
            out.yield_command(0, self.0 - 1);
            out.wait();
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scheduler = Scheduler::<Family>::builder()
        .workers(1)
        .handler(|left, completion| {
            execute_for(completion, Parent::default(), "", left, |exit| {
                exit.map_err(|error| error.to_string())
            });
        })
        .build()?;
    assert_eq!(scheduler.execute(Parent::default(), "", 9)?, 10);
    Ok(())
}
