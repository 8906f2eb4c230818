//! What a process costs that has had one message and waits for the next one: the bytes that are
//! resident then, the allocator's own share among them. Each figure is that of a program of its
//! own.

use crate::alone;
use crate::harness::Scenario;
use crate::memory::{resident, touched};
use crate::pools::{Actors, Async, Filch, TOTAL, Tokio};
use crate::workers::workers;

/// As many as fill the slots of a table that grows by doubling; one more, so that what grows in
/// steps has just grown; and neither. The worst of them counts.
const COUNTS: [u64; 3] = [(1 << 17) - 1, 1 << 17, 200_000];

/// Processes that are sent their message before the caller waits: the run queues stay short, and
/// add little to the figures.
const AT_A_TIME: u64 = 1024;

pub(super) fn scenarios() -> Vec<Scenario> {
    let waves = [
        ("idle process with its mailbox, cold", 1),
        ("idle process with its mailbox, after as many are gone", 2),
    ];
    let waves = waves.into_iter().map(|(name, waves)| {
        let scenario = [
            "filch-scheduler",
            "tokio mpsc",
            "async-executor, async-channel",
        ]
        .into_iter()
        .fold(Scenario::new(name, "bytes"), |scenario, contender| {
            scenario.contender(contender, move || worst(contender, waves))
        });
        let [full, ..] = COUNTS;
        scenario.outside_resident(&format!("idle {full}"), waves, full)
    });
    waves.collect()
}

fn worst(contender: &str, waves: u64) -> f64 {
    let each = COUNTS.map(|count| {
        let [count, waves] = [count, waves].map(|number| number.to_string());
        alone::figures(&["resident", contender, &count, &waves])[0]
    });
    each.into_iter().fold(0.0, f64::max)
}

/// What is resident for each of `count` processes of that contender, the last of so many waves. For
/// a program of its own: what ran before would leave memory to be used again.
pub(crate) fn resident_each(contender: &str, count: u64, waves: u64) -> f64 {
    let bytes = match contender {
        "filch-scheduler" => resident_of::<Filch>(count, waves),
        "tokio mpsc" => resident_of::<Tokio>(count, waves),
        _ => resident_of::<Async>(count, waves),
    };
    bytes as f64 / count as f64
}

/// The callers' addresses are not counted.
fn resident_of<A: Actors<u64>>(count: u64, waves: u64) -> i64 {
    let mut addresses = touched(count);
    let mut before = None;
    let mut last = 0;
    for _ in 0..waves {
        let actors = A::new(workers());
        // The threads have all run.
        let mut first = Vec::new();
        fill(&actors, &mut first, 16);
        let before = *before.get_or_insert_with(resident);
        fill(&actors, &mut addresses, count);
        last = resident() - before;
        addresses.clear();
    }
    last
}

/// They have no state.
fn fill<A: Actors<u64>>(actors: &A, addresses: &mut Vec<A::Address>, count: u64) {
    for number in 0..count {
        if number % AT_A_TIME == 0 {
            TOTAL.expect(AT_A_TIME.min(count - number));
        }
        let address = actors.actor(|number| TOTAL.add(number));
        assert!(A::send(&address, 1));
        addresses.push(address);
        if (number + 1) % AT_A_TIME == 0 || number + 1 == count {
            TOTAL.wait();
        }
    }
}
