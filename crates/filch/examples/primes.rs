//! Futures as processes: each counts the primes of one range, and one more adds up the counts.
//!
//! `cargo run --release -p filch --example primes`

use std::error::Error;

use filch::prelude::*;
use filch::scheduler::{ProcessError, Protocol, Scheduler};

/// Futures send no messages and yield no commands.
enum Counting {}

impl Protocol for Counting {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

const RANGES: u32 = 16;
const WIDTH: u32 = 2_000;

fn is_prime(number: u32) -> bool {
    number > 1
        && (2..number)
            .take_while(|factor| factor * factor <= number)
            .all(|factor| !number.is_multiple_of(factor))
}

fn main() -> Result<(), Box<dyn Error>> {
    let scheduler = Scheduler::<Counting>::builder().build()?;
    let parts = (0..RANGES)
        .map(|range| {
            let numbers = range * WIDTH..(range + 1) * WIDTH;
            scheduler.spawn(async { numbers.filter(|&number| is_prime(number)).count() })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let sum = scheduler.spawn(async {
        let mut sum = 0;
        for part in parts {
            // A part that panics is an error here, and harms nothing else.
            sum += part.await?;
        }
        Ok::<_, ProcessError<Counting>>(sum)
    })?;
    let primes = sum.join()??;
    assert_eq!(primes, 3_432);
    println!("{primes} primes below {}", RANGES * WIDTH);
    Ok(())
}
