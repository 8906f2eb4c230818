//! Futures beside processes: a future, an async function with an inbox, the end of a process that
//! is awaited, and jobs on the same threads.

use std::error::Error;

use filch::fork_join::{Pool, join};
use filch::prelude::*;
use filch::scheduler::{Event, Process, Protocol, Scheduler, from_fn};

// ANCHOR: protocol
enum Sums {}

impl Protocol for Sums {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

/// Ends with the first message, doubled.
fn doubler() -> impl Process<Sums> {
    from_fn::<Sums, _>(|_context, events, out| {
        for event in events {
            match event {
                Event::Message(number) => out.done(2 * number),
                _ => return Err("asked to end before there was a number".to_owned()),
            }
        }
        Ok(())
    })
}
// ANCHOR_END: protocol

// ANCHOR: sum
fn sum(numbers: &[u64]) -> u64 {
    if numbers.len() <= 1_000 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (left, right) = join(|| sum(left), || sum(right));
    left + right
}
// ANCHOR_END: sum

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: spawn
    let scheduler = Scheduler::<Sums>::builder().workers(2).build()?;
    let first = scheduler.spawn(async { 20 })?;
    let second = scheduler.spawn(async { first.await.map(|number| number + 1) })?;
    assert_eq!(second.join()??, 21);
    // ANCHOR_END: spawn

    // ANCHOR: inbox
    let adder = scheduler.spawn_with(|mut inbox| async move {
        let mut sum = 0;
        loop {
            match inbox.next().await {
                Event::Message(number) => sum += number,
                Event::Cancel(cancel) => break format!("{sum}: {cancel}"),
                _ => {}
            }
        }
    })?;
    scheduler.send(adder.pid(), 40)?;
    scheduler.send(adder.pid(), 2)?;
    scheduler.cancel(adder.pid(), "that is all")?;
    assert_eq!(adder.join()?, "42: that is all");
    // ANCHOR_END: inbox

    // ANCHOR: await
    let handle = scheduler.handle();
    let pair = scheduler.spawn(async move {
        let process = handle.submit(doubler(), "run", ())?;
        handle.send(process.pid(), 21)?;
        Ok::<_, Box<dyn Error + Send + Sync>>(process.await?)
    })?;
    assert_eq!(pair.join()??, 42);
    // ANCHOR_END: await

    // ANCHOR: jobs
    let pool = Pool::on(&scheduler.pool())?;
    let numbers: Vec<u64> = (0..100_000).collect();
    let total = numbers.len() as u64 * (numbers.len() as u64 - 1) / 2;
    // From a thread outside,
    assert_eq!(pool.install(|_worker| sum(&numbers)), total);
    // in a future,
    let future = scheduler.spawn(async move { sum(&numbers) })?;
    assert_eq!(future.join()?, total);
    // and in a step.
    let process = from_fn::<Sums, _>(|_context, _events, out| {
        out.done(sum(&[1; 10_000]));
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "run", ())?, 10_000);
    // ANCHOR_END: jobs
    Ok(())
}
