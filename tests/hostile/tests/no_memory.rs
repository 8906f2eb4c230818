//! A scheduler whose table cannot grow refuses the process, and goes on.

use filch_scheduler::{
    Context, Events, InitError, Process, Protocol, Refused, Scheduler, SpawnError, StepOutput,
    SubmitError,
};
use hostile_tests::refusing;

enum Numbers {}

impl Protocol for Numbers {
    type Input = u32;
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = u32;
    type Error = String;
}

/// Waits for a message, and is done with its input.
struct Waiting(Option<u32>);

impl Process<Numbers> for Waiting {
    fn init(
        &mut self,
        _: &Context<'_, Numbers>,
        _: &str,
        input: u32,
    ) -> Result<(), InitError<Numbers>> {
        self.0 = Some(input);
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        match (events.count(), self.0) {
            (1.., Some(number)) => out.done(number),
            _ => out.idle(),
        }
        Ok(())
    }
}

/// A full page of the table is larger than this, and all else that so few processes need smaller.
const REFUSED: usize = 32 << 10;

#[test]
fn a_submission_is_refused_and_handed_back() {
    let scheduler = Scheduler::<Numbers>::builder().workers(1).build().unwrap();
    let mut waiting = Vec::new();
    let refused = refusing(REFUSED, || {
        loop {
            let number = waiting.len() as u32;
            match scheduler.submit(Waiting(None), "", number) {
                Ok(process) => waiting.push(process),
                Err(SubmitError::NoMemory(refused)) => return refused,
                Err(other) => panic!("{other}"),
            }
            assert!(waiting.len() < 1000, "the table has grown without memory");
        }
    });
    let Refused { process, input } = refused;
    assert_eq!(input as usize, waiting.len());
    assert_eq!(scheduler.live(), waiting.len(), "it was counted");

    // So is a future.
    let future = refusing(REFUSED, || scheduler.spawn(std::future::ready(7)));
    let Err(SpawnError::NoMemory(future)) = future else {
        panic!("there is no place for it either");
    };

    // One that ends makes room for one, and the scheduler is what it was.
    let first = waiting.swap_remove(0);
    scheduler.send(first.pid(), ()).unwrap();
    assert_eq!(first.join().unwrap(), 0);
    let again = refusing(REFUSED, || scheduler.submit_boxed(process, "", input));
    waiting.push(again.unwrap());

    // With memory the table grows.
    assert_eq!(scheduler.spawn(future).unwrap().join().unwrap(), 7);
    for process in waiting {
        scheduler.send(process.pid(), ()).unwrap();
        process.join().unwrap();
    }
}
