//! Memory, as the bytes that are resident, the allocator's own share among them: of a process that
//! has had one message and waits for the next one; and what is still there when a burst of
//! processes is over, which a program does not get back. Each figure is that of a program of its
//! own: what ran before would leave memory to be used again.

use rayon::ThreadPool;

use crate::alone;
use crate::harness::{Effort, Scenario};
use crate::memory::{resident, touched};
use crate::pools::{Actors, Async, AsyncStatic, Filch, Spawner, TOTAL, Tokio};
use crate::total::sum_to;
use crate::workers::workers;

/// The numbers of processes: as many as fill the slots of a table that grows by doubling; one more,
/// so that what grows in steps has just grown; and neither. The worst of them counts.
const COUNTS: [u64; 3] = [(1 << 17) - 1, 1 << 17, 200_000];

/// Processes that are sent their message before the caller waits: the run queues stay short, and
/// add little to the figures.
const AT_A_TIME: u64 = 1024;

/// Measures idle processes: their number, and that of waves.
type Idle = fn(u64, u64) -> f64;

/// Measures a burst of so many processes.
type Burst = fn(u64) -> f64;

/// The bytes of each of so many idle processes, the last of so many waves, by contender.
const IDLE: [(&str, Idle); 3] = [
    ("filch-scheduler", idle::<Filch>),
    ("tokio mpsc", idle::<Tokio>),
    ("async-executor, async-channel", idle::<Async>),
];

/// The KiB that so many processes leave.
const BURST: [(&str, Burst); 5] = [
    ("filch-scheduler", burst::<Filch>),
    ("tokio", burst::<Tokio>),
    ("async-executor", burst::<Async>),
    ("async-executor, static", burst::<AsyncStatic>),
    ("rayon scope", burst::<ThreadPool>),
];

pub(super) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let waves = [
        ("idle process with its mailbox, cold", 1),
        ("idle process with its mailbox, after as many are gone", 2),
    ];
    let idle = waves.map(|(name, waves)| {
        let scenario = Scenario::new(name, "bytes");
        let scenario = (0..IDLE.len()).fold(scenario, |scenario, number| {
            let worst = move || {
                let each = COUNTS.map(|count| figure("idle", number, [count, waves]));
                each.into_iter().fold(0.0, f64::max)
            };
            scenario.contender(IDLE[number].0, worst)
        });
        let [full, ..] = COUNTS;
        scenario.outside_resident(&format!("idle {full}"), waves, full)
    });
    let count = effort.operations(1_000_000);
    let burst = Scenario::new("resident after a burst of processes", "KiB");
    let burst = (0..BURST.len()).fold(burst, |scenario, number| {
        scenario.contender(BURST[number].0, move || figure("burst", number, [count, 0]))
    });
    idle.into_iter().chain([burst]).collect()
}

/// The figure of a contender, by a program of its own.
fn figure(what: &str, contender: usize, [count, waves]: [u64; 2]) -> f64 {
    let numbers = [contender as u64, count, waves].map(|number| number.to_string());
    alone::figures(&[what, &numbers[0], &numbers[1], &numbers[2]])[0]
}

/// Returns that figure, for the program that runs this.
pub(crate) fn here(what: &str, contender: usize, count: u64, waves: u64) -> f64 {
    match what {
        "idle" => IDLE[contender].1(count, waves),
        _ => BURST[contender].1(count),
    }
}

/// The callers' addresses are not counted.
fn idle<A: Actors<u64>>(count: u64, waves: u64) -> f64 {
    let mut addresses = touched(count);
    let mut before = None;
    let mut last = 0;
    for _ in 0..waves {
        let actors = A::with_workers(workers());
        // The threads have all run.
        let mut first = Vec::new();
        fill(&actors, &mut first, 16);
        let before = *before.get_or_insert_with(resident);
        fill(&actors, &mut addresses, count);
        last = resident() - before;
        addresses.clear();
    }
    last as f64 / count as f64
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

fn burst<S: Spawner>(count: u64) -> f64 {
    let spawner = S::with_workers(workers());
    // The threads have all run.
    spawner.spawn_all(16);
    let before = resident();
    assert_eq!(spawner.spawn_all(count), sum_to(count));
    (resident() - before) as f64 / 1024.0
}
