//! The program in the project's README: an async function that has an inbox, and jobs on the same
//! two threads.

// ANCHOR: program
use std::error::Error;

use filch::actors::dynamic::{Dynamic, Payload};
use filch::fork_join::{Pool, join};
use filch::prelude::*;
use filch::scheduler::{Event, Scheduler};

/// Adds the numbers up, each half beside the other.
fn sum(numbers: &[u64]) -> u64 {
    if numbers.len() <= 1_000 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (left, right) = join(|| sum(left), || sum(right));
    left + right
}

fn main() -> Result<(), Box<dyn Error>> {
    let scheduler = Scheduler::<Dynamic>::builder().workers(2).build()?;
    let adder = scheduler.spawn_with(|mut inbox| async move {
        let mut total = 0;
        while let Event::Message(message) = inbox.next().await {
            total += message.downcast::<u64>().unwrap_or(0);
        }
        total // asked to end: there will be no more
    })?;

    let numbers: Vec<u64> = (0..100_000).collect();
    let pool = Pool::on(&scheduler.pool())?; // the scheduler's own threads
    let parts = numbers.chunks(25_000);
    for part in parts {
        let part = pool.install(|_worker| sum(part));
        scheduler.send(adder.pid(), Payload::new(part))?;
    }
    scheduler.cancel(adder.pid(), "that is all")?;
    assert_eq!(adder.join()?, 4_999_950_000);
    Ok(())
}
// ANCHOR_END: program
