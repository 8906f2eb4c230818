//! Which process waits for which, and what follows.
//!
//! A future is woken by the end of *any* process that it awaits, and by any waker that is held
//! elsewhere. So it can be woken if one of these can; and it cannot if none can. The same holds of
//! a process that waits for commands of which each is a call: any answer will do.

use std::collections::HashMap;

use crate::info::{Activity, PendingFuture, ProcessInfo};
use crate::pid::Pid;

/// The processes by their number in the list, and what each awaits.
pub(crate) struct WaitGraph {
    awaits: Vec<Vec<usize>>,
    /// Something that is known to be outside can make it go on, or what it awaits.
    awake: Vec<bool>,
    /// So can a message that a thread outside may send, or not.
    hears: Vec<bool>,
}

impl WaitGraph {
    /// What futures await. A command may be completed from outside, be it a call or not.
    pub(crate) fn of_futures(processes: &[ProcessInfo], futures: &[PendingFuture]) -> Self {
        Self::new(processes, futures, |_| None)
    }

    /// What futures await, and processes that wait for answers to calls alone: as if none of the
    /// called processes had passed its caller on.
    pub(crate) fn with_calls(processes: &[ProcessInfo], futures: &[PendingFuture]) -> Self {
        Self::new(processes, futures, ProcessInfo::waits_for_calls)
    }

    fn new(
        processes: &[ProcessInfo],
        futures: &[PendingFuture],
        callees: impl Fn(&ProcessInfo) -> Option<Vec<Pid>>,
    ) -> Self {
        let numbers: HashMap<Pid, usize> = processes
            .iter()
            .enumerate()
            .map(|(at, process)| (process.pid, at))
            .collect();
        let mut awake: Vec<bool> = processes
            .iter()
            .map(|process| {
                // Of a future that was not looked at, nothing is known.
                process.outstanding > 0
                    || matches!(process.activity, Activity::Starting | Activity::Pending)
            })
            .collect();
        let mut hears: Vec<bool> = processes
            .iter()
            .map(|process| process.activity != Activity::Pending)
            .collect();
        let mut awaits = vec![Vec::new(); processes.len()];
        let mut await_all = |at: usize, pids: &[Pid], is_woken: bool| {
            // One that has ended since has woken it, or is about to.
            let all: Vec<_> = pids.iter().map(|pid| numbers.get(pid)).collect();
            awake[at] = is_woken || all.contains(&None);
            awaits[at] = all.into_iter().flatten().copied().collect();
            hears[at] = awake[at];
        };
        for future in futures {
            if let Some(&at) = numbers.get(&future.pid) {
                await_all(at, &future.awaits, future.wakers > 0);
            }
        }
        for (at, process) in processes.iter().enumerate() {
            if let Some(callees) = callees(process) {
                await_all(at, &callees, false);
            }
        }
        hears
            .iter_mut()
            .zip(&awake)
            .for_each(|(hears, &awake)| *hears |= awake);
        let mut graph = Self {
            awaits,
            awake,
            hears,
        };
        let awaited_by = graph.reversed();
        spread(&mut graph.awake, &awaited_by);
        spread(&mut graph.hears, &awaited_by);
        graph
    }

    fn reversed(&self) -> Vec<Vec<usize>> {
        let mut reversed = vec![Vec::new(); self.awaits.len()];
        for (at, all) in self.awaits.iter().enumerate() {
            all.iter().for_each(|&one| reversed[one].push(at));
        }
        reversed
    }

    /// Whether nothing can make it go on.
    pub(crate) fn is_stuck(&self, at: usize) -> bool {
        !self.hears[at]
    }

    pub(crate) fn is_any_awake(&self) -> bool {
        self.awake.contains(&true)
    }

    /// Rings of those that are stuck: one on the way of each that does not wait for nothing at all.
    pub(crate) fn rings(&self) -> Vec<Vec<usize>> {
        let next = self.toward_rings();
        // In which walk each was met.
        let mut met = vec![None; next.len()];
        let mut rings = Vec::new();
        for start in 0..next.len() {
            let mut way = Vec::new();
            let mut here = start;
            while let (None, Some(on)) = (met[here], next[here]) {
                met[here] = Some(start);
                way.push(here);
                here = on;
            }
            if let Some(first) = way.iter().position(|&at| at == here) {
                rings.push(way.split_off(first));
            }
        }
        rings
    }

    /// For each, one that it awaits, that is stuck, and from which a ring is reached. None, where
    /// all ways end.
    fn toward_rings(&self) -> Vec<Option<usize>> {
        let awaited_by = self.reversed();
        let mut ways: Vec<usize> = self.awaits.iter().map(Vec::len).collect();
        let mut ends = self.hears.clone();
        let mut open: Vec<usize> = (0..ways.len()).filter(|&at| ways[at] == 0).collect();
        open.iter().for_each(|&at| ends[at] = true);
        while let Some(at) = open.pop() {
            for &one in &awaited_by[at] {
                ways[one] -= 1;
                if ways[one] == 0 {
                    ends[one] = true;
                    open.push(one);
                }
            }
        }
        let on = |all: &Vec<usize>| all.iter().copied().find(|&one| !ends[one]);
        self.awaits.iter().map(on).collect()
    }
}

/// Those that await one for which it holds are like it.
fn spread(holds: &mut [bool], awaited_by: &[Vec<usize>]) {
    let mut open: Vec<usize> = (0..holds.len()).filter(|&at| holds[at]).collect();
    while let Some(at) = open.pop() {
        for &one in &awaited_by[at] {
            if !holds[one] {
                holds[one] = true;
                open.push(one);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use filch_event_queue::Depth;
    use proptest::prelude::*;

    use std::time::Duration;

    use crate::details::{PendingCommand, ProcessDetails};
    use crate::info::{Activity, PendingFuture, PendingTimers, ProcessInfo};
    use crate::standstill::{Standstill, Verdict};
    use crate::{Node, Pid, Placement, Table};

    /// What a process waits for.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Waits {
        /// For the others, with so many clones of its waker elsewhere.
        Pending(usize),
        Message,
        Command,
    }

    /// Row by row, which process awaits which. Only a future does.
    type Matrix = Vec<Vec<bool>>;

    fn pids(count: usize) -> Vec<Pid> {
        let table = Table::<(), (), ()>::new(Node::default());
        let occupy = |_| table.pid_of(table.occupy(&Placement::default()).unwrap());
        (0..count).map(occupy).collect()
    }

    fn standstill(pids: &[Pid], waits: &[Waits], awaits: &Matrix) -> Standstill {
        let info = |(&pid, waits): (&Pid, &Waits)| {
            let (activity, outstanding) = match waits {
                Waits::Pending(_) => (Activity::Pending, 0),
                Waits::Message => (Activity::Idle, 0),
                Waits::Command => (Activity::Blocked, 1),
            };
            ProcessInfo {
                pid,
                names: Vec::new(),
                activity,
                outstanding,
                undelivered: None,
                queued: Depth::default(),
                steps: 1,
                messages: 0,
                empty_steps: 0,
                details: None,
            }
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
        let timers = PendingTimers {
            count: 0,
            next: Duration::MAX,
        };
        Standstill::new(processes, futures.collect(), timers)
    }

    /// Which process leads to which, by any number of steps: Warshall's algorithm.
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

    /// A process is stuck if it is a future, and nothing that it leads to, nor itself, can be woken
    /// from elsewhere. The verdict is about what is known to be elsewhere. Rings are rings, of
    /// stuck futures, and there is one where there should be.
    fn agrees(pids: &[Pid], waits: &[Waits], awaits: &Matrix) -> Result<(), TestCaseError> {
        let all = || 0..waits.len();
        let reach = reach(waits, awaits);
        let report = standstill(pids, waits, awaits);
        let leads = |from: usize, to: usize| from == to || reach[from][to];
        let stuck: Vec<usize> = all()
            .filter(|&at| all().all(|to| !leads(at, to) || waits[to] == Waits::Pending(0)))
            .collect();
        let named: Vec<Pid> = stuck.iter().map(|&at| pids[at]).collect();
        prop_assert_eq!(report.stuck(), named);
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
        let rings: Vec<Vec<usize>> = report
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

    /// Of a process with one command, which may be a call.
    fn calling(calls: Option<Pid>, is_limited: bool) -> Box<ProcessDetails> {
        let mut command = PendingCommand::new(7, Duration::ZERO);
        (command.calls, command.is_limited) = (calls, is_limited);
        let mut details = Box::new(ProcessDetails::new("Caller", Duration::ZERO, None));
        details.commands.push(command);
        details
    }

    /// A process calls an async function that awaits the process's end. Not if one of its commands
    /// is none that is known to be a call, nor if something else has the future's waker.
    #[test]
    fn a_call_and_a_future_in_one_ring() {
        let pids = pids(2);
        let no_journal = standstill(
            &pids,
            &[Waits::Command, Waits::Pending(0)],
            &vec![vec![false, false], vec![true, false]],
        );
        assert_eq!(no_journal.call_rings(), Vec::<Vec<Pid>>::new());
        let with = |calls: Option<Pid>, is_limited: bool| {
            let mut standstill = no_journal.clone();
            standstill.processes[0].details = Some(calling(calls, is_limited));
            standstill
        };
        let ring = with(Some(pids[1]), false);
        assert_eq!(ring.call_rings(), [[pids[0], pids[1]]]);
        assert_eq!((ring.rings(), ring.stuck()), (vec![], vec![]));
        let text = ring.to_string();
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
            assert_eq!(standstill.call_rings(), Vec::<Vec<Pid>>::new());
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
        assert_eq!(calls.call_rings(), [[pids[0], pids[1]]]);
        assert_eq!(calls.rings(), Vec::<Vec<Pid>>::new());
        let each_other = vec![vec![false, true], vec![true, false]];
        let futures = standstill(&pids, &[Waits::Pending(0); 2], &each_other);
        assert_eq!(futures.rings(), [[pids[0], pids[1]]]);
        assert_eq!(futures.call_rings(), Vec::<Vec<Pid>>::new());
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
}
