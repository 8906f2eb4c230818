//! A first process: from a closure, then as a type; with a refused start and a panic.

use std::error::Error;

use filch::actors::dynamic::{Dynamic, Payload};
use filch::prelude::*;
use filch::scheduler::{
    Context, Event, Events, InitError, JoinError, Process, ProcessError, Protocol, Scheduler,
    StepOutput, SubmitError, from_fn,
};

// ANCHOR: protocol
/// The vocabulary of the processes of this program.
enum Sums {}

impl Protocol for Sums {
    type Input = u64; // how many numbers to add up
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = u64; // their sum
    type Error = String;
}
// ANCHOR_END: protocol

// ANCHOR: type
/// Adds up the first numbers, or their squares, one in each step.
#[derive(Default)]
struct Adder {
    squares: bool,
    last: u64,
    next: u64,
    sum: u64,
}

impl Process<Sums> for Adder {
    fn init(
        &mut self,
        _: &Context<'_, Sums>,
        entry_point: &str,
        last: u64,
    ) -> Result<(), InitError<Sums>> {
        self.squares = match entry_point {
            "numbers" => false,
            "squares" => true,
            other => return Err(InitError::unknown_method(other, &["numbers", "squares"])),
        };
        self.last = last;
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Sums>,
        _: Events<'_, Sums>,
        out: &mut StepOutput<Sums>,
    ) -> Result<(), String> {
        let number = self.next;
        let term = if self.squares {
            number.checked_mul(number)
        } else {
            Some(number)
        };
        let sum = term.and_then(|term| self.sum.checked_add(term));
        self.sum = sum.ok_or("the sum is too large")?;
        self.next += 1;
        if number < self.last {
            out.go_on();
        } else {
            out.done(self.sum);
        }
        Ok(())
    }
}
// ANCHOR_END: type

/// Without a protocol of its own.
fn dynamic() -> Result<(), Box<dyn Error>> {
    // ANCHOR: closure
    let scheduler = Scheduler::<Dynamic>::builder().workers(2).build()?;

    let mut sum = 0;
    let adder = from_fn::<Dynamic, _>(move |_context, events, out| {
        for event in events {
            match event {
                Event::Message(number) => sum += number.downcast::<u64>()?,
                Event::Cancel(_) => out.done(Payload::new(sum)),
                _ => {}
            }
        }
        Ok(())
    });
    let adder = scheduler.submit(adder, "run", Payload::new(()))?;
    for number in [30_u64, 12] {
        scheduler.send(adder.pid(), Payload::new(number))?;
    }
    scheduler.cancel(adder.pid(), "that is all")?;
    assert_eq!(adder.join()?.downcast::<u64>()?, 42);
    // ANCHOR_END: closure
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    dynamic()?;
    let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;

    // ANCHOR: submit
    let numbers = scheduler.submit(Adder::default(), "numbers", 10)?;
    let squares = scheduler.submit(Adder::default(), "squares", 10)?;
    assert_eq!((numbers.join()?, squares.join()?), (55, 385));

    // `init` runs in `submit`; a process that it refuses never takes a step.
    let Err(SubmitError::Init(refused)) = scheduler.submit(Adder::default(), "cubes", 10) else {
        return Err("there is no such entry point".into());
    };
    let message = "no method `cubes`; this process has: numbers, squares";
    assert_eq!(refused.to_string(), message);
    // ANCHOR_END: submit

    // ANCHOR: panic
    let broken = from_fn(|_context, _events, _out| panic!("nobody has thought of this"));
    let broken = scheduler.submit(broken, "any", 0)?;
    let pid = broken.pid();
    let Err(JoinError::Process(ProcessError::Panicked(message))) = broken.join() else {
        return Err("a panic is how it ended".into());
    };
    let told = format!("nobody has thought of this (in process {pid}: guide_first_process::main");
    assert!(message.starts_with(&told));

    // The others have not noticed.
    assert_eq!(scheduler.execute(Adder::default(), "numbers", 3)?, 6);
    // ANCHOR_END: panic
    Ok(())
}
