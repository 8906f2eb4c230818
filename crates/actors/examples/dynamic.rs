//! A scheduler whose processes have no types in common: every message, command and output is a
//! payload, whose type the receiver checks.

use filch_actors::dynamic::{Commands, Dynamic, Failure, Payload};
use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, InitError, Process, Scheduler, StepOutput,
};

/// A command. Any type will do.
struct Square(u64);

struct Squarer;

impl Process<Dynamic> for Squarer {
    fn init(
        &mut self,
        context: &Context<'_, Dynamic>,
        _: &str,
        input: Payload,
    ) -> Result<(), InitError<Dynamic>> {
        let sent = context.send(context.pid(), input);
        sent.map_err(|error| InitError::Failed(error.into()))
    }

    fn step(
        &mut self,
        _: &Context<'_, Dynamic>,
        events: Events<'_, Dynamic>,
        out: &mut StepOutput<Dynamic>,
    ) -> Result<(), Failure> {
        for event in events {
            match event {
                Event::Message(number) => {
                    out.yield_command(0, Payload::new(Square(number.downcast()?)));
                    out.wait();
                }
                Event::Completed { result, .. } => out.done(result?),
                _ => out.done(Payload::new(())),
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let square = |Square(number): Square, completion: Completion<Dynamic>| {
        completion.complete(Payload::new(number * number));
    };
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler(Commands::new().on(square)?.into_handler())
        .build()?;
    let squared = scheduler.execute(Squarer, "", Payload::new(9_u64))?;
    assert_eq!(squared.downcast::<u64>()?, 81);
    Ok(())
}
