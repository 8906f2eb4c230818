//! Memory, as the bytes that are resident, the allocator's own share among them: of a process that
//! has had one message and waits for the next one; and what is still there when a burst of
//! processes is over, which a program does not get back. Each figure is that of a program of its
//! own: what ran before would leave memory to be used again.

use std::sync::{Arc, Mutex, mpsc};

use rayon::ThreadPool;

use crate::alone;
use crate::harness::Scenario;
use crate::memory::{resident, touched};
use crate::pools::{Actors, Async, AsyncStatic, Filch, Spawner, TOTAL, Tokio};
use crate::total::sum_to;

/// The numbers of processes: as many as fill the slots of a table that grows by doubling; one more,
/// so that what grows in steps has just grown; and neither. The worst of them counts.
const COUNTS: [u64; 3] = [(1 << 17) - 1, 1 << 17, 200_000];

/// Processes that are sent their message before the caller waits: the run queues stay short, and
/// add little to the figures.
const AT_A_TIME: u64 = 1024;

/// Measures so many processes, or so many waves of them.
type Measure = fn(u64, u64) -> f64;

/// The bytes of each of so many messages to a process that is held up; those of so many idle
/// processes, the last of so many waves; and the KiB that so many leave. By contender.
const MEASURES: [(&str, &str, Measure); 11] = [
    ("message", "filch-scheduler", waiting::<Filch>),
    ("message", "tokio mpsc", waiting::<Tokio>),
    ("message", "async-executor, async-channel", waiting::<Async>),
    ("idle", "filch-scheduler", idle::<Filch>),
    ("idle", "tokio mpsc", idle::<Tokio>),
    ("idle", "async-executor, async-channel", idle::<Async>),
    ("burst", "filch-scheduler", burst::<Filch>),
    ("burst", "tokio", burst::<Tokio>),
    ("burst", "async-executor", burst::<Async>),
    ("burst", "async-executor, static", burst::<AsyncStatic>),
    ("burst", "rayon scope", burst::<ThreadPool>),
];

/// Adds the contenders with that measure. Each figure is that of a program of its own, and the
/// worst of these counts and waves is taken.
fn measured(scenario: Scenario, wanted: &'static str, runs: Vec<[u64; 2]>) -> Scenario {
    let measures = MEASURES.iter().filter(|(what, ..)| *what == wanted);
    measures.fold(scenario, |scenario, (what, name, _)| {
        let runs = runs.clone();
        let figure = |numbers: &[u64; 2]| {
            let [count, waves] = numbers.map(|number| number.to_string());
            alone::figures(&[what, name, &count, &waves])[0]
        };
        scenario.contender(name, move || {
            runs.iter().map(figure).fold(f64::MIN, f64::max)
        })
    })
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let waves = [
        ("idle process with its mailbox, cold", 1),
        ("idle process with its mailbox, after as many are gone", 2),
    ];
    let idle = waves.map(|(name, waves)| {
        let runs = COUNTS.map(|count| [count, waves]);
        let scenario = measured(Scenario::new(name, "bytes"), "idle", runs.into());
        let [full, ..] = COUNTS;
        scenario.outside_resident(&format!("idle {full}"), waves, full)
    });
    let burst = Scenario::new("resident after a burst of processes", "KiB");
    let burst = measured(burst, "burst", vec![[125_000, 1]]);
    let waiting = Scenario::new("a waiting message of 8 bytes", "bytes");
    let waiting = measured(waiting, "message", vec![[1_000_000, 1]]);
    idle.into_iter().chain([burst, waiting]).collect()
}

/// The figure, for the program that runs this.
pub(crate) fn here(wanted: &str, contender: &str, count: u64, waves: u64) -> f64 {
    let mut measures = MEASURES.iter();
    let measure = measures.find(|(what, name, _)| (*what, *name) == (wanted, contender));
    measure.expect("a measure").2(count, waves)
}

/// The callers' addresses are not counted.
fn idle<A: Actors<u64>>(count: u64, waves: u64) -> f64 {
    let mut addresses = touched(count);
    let mut before = None;
    let mut last = 0;
    for _ in 0..waves {
        let actors = A::here();
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

fn waiting<A: Actors<u64>>(count: u64, _waves: u64) -> f64 {
    let actors = A::here();
    // The threads have all run.
    fill(&actors, &mut Vec::new(), 16);
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock().expect("no panic");
    let (here, is_here) = mpsc::channel();
    let address = actors.actor({
        let gate = Arc::clone(&gate);
        move |is_first| {
            if is_first == 1 {
                here.send(()).expect("it is received");
                drop(gate.lock());
            }
        }
    });
    assert!(A::send(&address, 1));
    is_here.recv().expect("it has begun");
    let before = resident();
    (0..count).for_each(|_| assert!(A::send(&address, 0)));
    let last = resident() - before;
    drop(held);
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

fn burst<S: Spawner>(count: u64, _waves: u64) -> f64 {
    let spawner = S::here();
    // The threads have all run.
    spawner.spawn_all(16);
    let before = resident();
    assert_eq!(spawner.spawn_all(count), sum_to(count));
    (resident() - before) as f64 / 1024.0
}
