//! A command that completes an hour later, on a clock that the program moves by hand.

use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_scheduler::{
    Completion, Context, Event, Events, InitError, Process, Protocol, Scheduler, StepOutput,
};

enum Naps {}

impl Protocol for Naps {
    type Input = ();
    type Message = ();
    /// Sleep for that time.
    type Command = Duration;
    type Reply = ();
    type Output = &'static str;
    type Error = String;
}

struct Napper;

impl Process<Naps> for Napper {
    fn init(&mut self, _: &Context<'_, Naps>, _: &str, (): ()) -> Result<(), InitError<Naps>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Naps>,
        mut events: Events<'_, Naps>,
        out: &mut StepOutput<Naps>,
    ) -> Result<(), String> {
        if let Some(Event::Completed { result, .. }) = events.next() {
            result.map_err(|error| error.to_string())?;
            out.done("rested");
        } else {
            out.yield_command(0, Duration::from_secs(3600));
            out.wait();
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = FakeClock::new(); // in production: Timers::new()
    let timers = Timers::with_clock(clock.clone())?;
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler({
            let timers = timers.clone();
            move |nap: Duration, completion: Completion<Naps>| {
                // Timers that are shut down hand the completion back; its drop ends the nap.
                let _ = timers.complete_after(nap, completion, ());
            }
        })
        .build()?;
    let napper = scheduler.submit(Napper, "", ())?;
    timers.block_until(1); // the process has yielded its command
    clock.advance(Duration::from_secs(3600));
    assert_eq!(napper.join()?, "rested");
    Ok(())
}
