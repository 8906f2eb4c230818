//! The rings of all small graphs, and of random ones, against plain reachability.

use std::sync::OnceLock;
use std::time::Duration;

use filch_scheduler::{
    Activity, PendingCommand, PendingFuture, Pid, ProcessDetails, ProcessInfo, Scheduler,
    Standstill, Verdict, from_fn,
};
use proptest::prelude::*;

use crate::Rings;
use crate::tests::Any;

/// The wait of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Waits {
    /// For others; so many clones of its waker are elsewhere.
    Pending(usize),
    Message,
    Command,
}

/// For each process a row of those it awaits. Only a future awaits any.
type Matrix = Vec<Vec<bool>>;

/// As many PIDs as the tests need at most, and one process's information.
fn processes() -> &'static (Vec<Pid>, ProcessInfo) {
    static PROCESSES: OnceLock<(Vec<Pid>, ProcessInfo)> = OnceLock::new();
    PROCESSES.get_or_init(|| {
        let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
        let submit = |_| scheduler.submit(from_fn(|_, _, _| Ok(())), "run", ());
        let pids = (0..12)
            .map(|number| submit(number).unwrap().pid())
            .collect();
        let standstill = scheduler.wait_for_standstill().unwrap();
        (pids, standstill.processes[0].clone())
    })
}

fn pids(count: usize) -> Vec<Pid> {
    processes().0[..count].to_vec()
}

fn standstill(pids: &[Pid], waits: &[Waits], awaits: &Matrix) -> Standstill {
    let info = |(&pid, waits): (&Pid, &Waits)| {
        let (activity, outstanding) = match waits {
            Waits::Pending(_) => (Activity::Pending, 0),
            Waits::Message => (Activity::Idle, 0),
            Waits::Command => (Activity::Blocked, 1),
        };
        let mut info = processes().1.clone();
        (info.pid, info.activity, info.outstanding) = (pid, activity, outstanding);
        info
    };
    let processes = pids.iter().zip(waits).map(info).collect();
    let futures = (0..pids.len()).filter_map(|at| match waits[at] {
        Waits::Pending(wakers) => Some(PendingFuture {
            pid: pids[at],
            awaits: (0..pids.len())
                .filter(|&to| awaits[at][to])
                .map(|to| pids[to])
                .collect(),
            wakers,
        }),
        _ => None,
    });
    Standstill {
        processes,
        futures: futures.collect(),
        timers: None,
    }
}

/// The processes that each leads to, by any number of steps: Warshall's algorithm.
fn reach(waits: &[Waits], awaits: &Matrix) -> Matrix {
    let all = 0..waits.len();
    let is_future = |at: usize| matches!(waits[at], Waits::Pending(_));
    let mut reach: Matrix = all
        .clone()
        .map(|at| {
            all.clone()
                .map(|to| is_future(at) && awaits[at][to])
                .collect()
        })
        .collect();
    for by in all.clone() {
        for from in all.clone() {
            for to in all.clone() {
                reach[from][to] |= reach[from][by] && reach[by][to];
            }
        }
    }
    reach
}

/// A process is stuck if it is a future, and neither it nor any process that it leads to can be
/// woken from elsewhere. The verdict counts only what is known to be elsewhere. The rings are rings
/// of stuck futures, and each stuck future that leads to a ring leads to one of them.
fn agrees(pids: &[Pid], waits: &[Waits], awaits: &Matrix) -> Result<(), TestCaseError> {
    let all = || 0..waits.len();
    let reach = reach(waits, awaits);
    let report = standstill(pids, waits, awaits);
    let leads = |from: usize, to: usize| from == to || reach[from][to];
    let stuck: Vec<usize> = all()
        .filter(|&at| all().all(|to| !leads(at, to) || waits[to] == Waits::Pending(0)))
        .collect();
    let named: Vec<Pid> = stuck.iter().map(|&at| pids[at]).collect();
    prop_assert_eq!(Rings::of(&report).stuck(), named);
    let outside = waits
        .iter()
        .any(|one| matches!(one, Waits::Command | Waits::Pending(1..)));
    let verdict = match (waits.is_empty(), outside) {
        (true, _) => Verdict::AllEnded,
        (_, true) => Verdict::AwaitsOutside,
        (_, false) => Verdict::Deadlock,
    };
    prop_assert_eq!(report.verdict(), verdict);
    let number = |pid: &Pid| pids.iter().position(|own| own == pid).unwrap();
    let rings: Vec<Vec<usize>> = Rings::of(&report)
        .rings()
        .iter()
        .map(|ring| ring.iter().map(number).collect())
        .collect();
    for ring in &rings {
        for (index, &at) in ring.iter().enumerate() {
            prop_assert!(stuck.contains(&at) && !ring[..index].contains(&at));
            prop_assert!(awaits[at][ring[(index + 1) % ring.len()]]);
        }
    }
    for &at in &stuck {
        let leads_to_ring = all().any(|on| leads(at, on) && reach[on][on]);
        let found = rings.iter().flatten().any(|&on| leads(at, on));
        prop_assert_eq!(leads_to_ring, found);
    }
    Ok(())
}

/// The details of a process with one command, which may be a call.
fn calling(calls: Option<Pid>, is_limited: bool) -> Box<ProcessDetails> {
    let command = PendingCommand {
        tag: 7,
        age: Duration::ZERO,
        calls,
        is_limited,
    };
    Box::new(ProcessDetails {
        type_name: "Caller",
        method: "run".into(),
        age: Duration::ZERO,
        parent: None,
        commands: vec![command],
    })
}

/// A process calls an async function that awaits the process's end. No ring if one of its commands
/// is not known to be a call, or if the future's waker is held elsewhere.
#[test]
fn a_call_and_a_future_in_one_ring() {
    let pids = pids(2);
    let no_journal = standstill(
        &pids,
        &[Waits::Command, Waits::Pending(0)],
        &vec![vec![false, false], vec![true, false]],
    );
    assert_eq!(Rings::of(&no_journal).call_rings(), Vec::<Vec<Pid>>::new());
    let with = |calls: Option<Pid>, is_limited: bool| {
        let mut standstill = no_journal.clone();
        standstill.processes[0].details = Some(calling(calls, is_limited));
        standstill
    };
    let ring = with(Some(pids[1]), false);
    assert_eq!(Rings::of(&ring).call_rings(), [[pids[0], pids[1]]]);
    assert_eq!(
        (Rings::of(&ring).rings(), Rings::of(&ring).stuck()),
        (vec![], vec![])
    );
    let text = Rings::of(&ring).to_string();
    let way = format!("{0} calls {1} awaits {0}", pids[0], pids[1]);
    assert!(text.ends_with(&way), "{text}");
    let mut woken = ring.clone();
    woken.futures[0].wakers = 1;
    let mut another = ring.clone();
    another.processes[0].outstanding = 2;
    let mut idle = ring.clone();
    idle.processes[0].activity = Activity::Idle;
    let limited = with(Some(pids[1]), true);
    for standstill in [with(None, false), limited, woken, another, idle] {
        assert_eq!(Rings::of(&standstill).call_rings(), Vec::<Vec<Pid>>::new());
    }
}

/// Two processes that call each other; and two futures that await each other.
#[test]
fn a_ring_of_calls_alone_and_one_without_a_call() {
    let pids = pids(2);
    let mut calls = standstill(&pids, &[Waits::Command; 2], &vec![vec![false; 2]; 2]);
    for (process, callee) in calls.processes.iter_mut().zip([pids[1], pids[0]]) {
        process.details = Some(calling(Some(callee), false));
    }
    assert_eq!(Rings::of(&calls).call_rings(), [[pids[0], pids[1]]]);
    assert_eq!(Rings::of(&calls).rings(), Vec::<Vec<Pid>>::new());
    let each_other = vec![vec![false, true], vec![true, false]];
    let futures = standstill(&pids, &[Waits::Pending(0); 2], &each_other);
    assert_eq!(Rings::of(&futures).rings(), [[pids[0], pids[1]]]);
    assert_eq!(Rings::of(&futures).call_rings(), Vec::<Vec<Pid>>::new());
}

const KINDS: [Waits; 4] = [
    Waits::Pending(0),
    Waits::Pending(1),
    Waits::Message,
    Waits::Command,
];

#[test]
fn all_small_graphs() {
    for count in 0..=3_u32 {
        let pids = pids(count as usize);
        let edges = count * count;
        for kinds in 0..4_usize.pow(count) {
            let waits: Vec<_> = (0..count).map(|at| KINDS[kinds >> (2 * at) & 3]).collect();
            for bits in 0..1_u32 << edges {
                let edge = |from, to| bits >> (from * count + to) & 1 == 1;
                let row = |from| (0..count).map(|to| edge(from, to)).collect();
                agrees(&pids, &waits, &(0..count).map(row).collect()).unwrap();
            }
        }
    }
}

fn waits() -> impl Strategy<Value = Waits> {
    // Mostly futures, or there would hardly be a ring.
    prop_oneof![
        12 => Just(Waits::Pending(0)),
        1 => (1..3_usize).prop_map(Waits::Pending),
        1 => Just(Waits::Message),
        1 => Just(Waits::Command),
    ]
}

proptest! {
    #[test]
    fn random_graphs(
        waits in prop::collection::vec(waits(), 0..12),
        edges in prop::collection::vec((0..12_usize, 0..12_usize), 0..18),
    ) {
        let count = waits.len();
        let mut awaits = vec![vec![false; count]; count];
        for (from, to) in edges.into_iter().filter(|&(from, to)| from < count && to < count) {
            awaits[from][to] = true;
        }
        agrees(&pids(count), &waits, &awaits)?;
    }
}
