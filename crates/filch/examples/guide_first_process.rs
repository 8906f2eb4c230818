//! A first process: from a closure, then as a type; with a refused start and a panic.

use std::error::Error;

// ANCHOR: protocol
use filch::prelude::*;
use filch::scheduler::{
    Context, Events, InitError, JoinError, Process, ProcessError, Protocol, Scheduler, StepOutput,
    SubmitError, from_fn,
};

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

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: closure
    let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;

    let (mut next, mut sum) = (0, 0);
    let adder = from_fn(move |_context, _events, out| {
        sum += next;
        next += 1;
        if next <= 10 {
            out.go_on();
        } else {
            out.done(sum);
        }
        Ok(())
    });
    assert_eq!(scheduler.execute(adder, "any", 0)?, 55);
    // ANCHOR_END: closure

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
