//! What a process costs that has had one message and waits for the next one: the bytes that it asks
//! the allocator for, and those that are resident then, the allocator's own share among them.

use std::mem::MaybeUninit;

use super::contenders::{Async, Filch, Tokio};
use super::{Actors, TOTAL};
use crate::harness::Scenario;
use crate::memory::{left_in_use, of_a_program, resident};

/// As many as fill the slots of a table that grows by doubling.
const FULL: u64 = (1 << 17) - 1;

/// One more: what grows in steps has just grown.
const GROWN: u64 = FULL + 1;

/// Neither.
const BETWEEN: u64 = 200_000;

/// Processes that are sent their message before the caller waits: the run queues stay short, and
/// add little to the figures.
const AT_A_TIME: u64 = 1024;

pub(super) fn scenarios() -> Vec<Scenario> {
    let asked_for = Scenario::new("idle process with its mailbox", "bytes")
        .contender("filch-scheduler", asked_for::<Filch>())
        .contender("tokio mpsc", asked_for::<Tokio>())
        .contender("async-executor, async-channel", asked_for::<Async>())
        .outside_anew(&format!("idle {FULL}"), FULL);
    let resident = [FULL, GROWN, BETWEEN].map(|count| {
        let name = format!("the same, resident, {count} processes");
        let scenario = Scenario::new(name, "bytes");
        [
            "filch-scheduler",
            "tokio mpsc",
            "async-executor, async-channel",
        ]
        .into_iter()
        .fold(scenario, |scenario, contender| {
            scenario.contender(contender, move || {
                let count = count.to_string();
                of_a_program(&["--resident", contender, "--processes", &count])
            })
        })
    });
    [asked_for].into_iter().chain(resident).collect()
}

/// What is resident for each of `count` processes of that contender. For a program of its own: what
/// ran before would leave memory to be used again.
pub(crate) fn resident_each(contender: &str, count: u64) -> f64 {
    let bytes = match contender {
        "filch-scheduler" => resident_of::<Filch>(count),
        "tokio mpsc" => resident_of::<Tokio>(count),
        _ => resident_of::<Async>(count),
    };
    bytes as f64 / count as f64
}

/// The callers' addresses are not counted, in either way.
fn asked_for<A: Actors>() -> impl FnMut() -> f64 {
    || {
        let actors = A::new();
        let mut addresses = Vec::with_capacity(FULL as usize);
        let ((), bytes) = left_in_use(|| fill(&actors, &mut addresses, FULL));
        bytes as f64 / FULL as f64
    }
}

fn resident_of<A: Actors>(count: u64) -> i64 {
    let actors = A::new();
    let mut addresses = Vec::with_capacity(count as usize);
    // Its pages are there before.
    addresses
        .spare_capacity_mut()
        .fill_with(MaybeUninit::zeroed);
    // And the threads', which have all run.
    let mut first = Vec::new();
    fill(&actors, &mut first, 16);
    let before = resident();
    fill(&actors, &mut addresses, count);
    resident() - before
}

/// They have no state.
fn fill<A: Actors>(actors: &A, addresses: &mut Vec<A::Address>, count: u64) {
    for number in 0..count {
        if number % AT_A_TIME == 0 {
            TOTAL.expect(AT_A_TIME.min(count - number));
        }
        let address = actors.actor(|number| TOTAL.add(number));
        A::send(&address, 1);
        addresses.push(address);
        if (number + 1) % AT_A_TIME == 0 || number + 1 == count {
            TOTAL.wait();
        }
    }
}
