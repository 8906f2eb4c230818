//! The graph of the processes that wait for each other.
//!
//! Each process that a future awaits wakes it when it ends, and so does any waker that is held
//! elsewhere. So the future is stuck only if none of these can happen. The same holds of a process
//! that waits for commands that are all calls: any answer wakes it.

use std::collections::HashMap;

use filch_scheduler::{Activity, PendingCommand, PendingFuture, Pid, ProcessInfo};

/// The processes by their number in the list, and those that each awaits.
pub(crate) struct WaitGraph {
    awaits: Vec<Vec<usize>>,
    /// True if something known outside can wake it, or one that it awaits.
    awake: Vec<bool>,
    /// True if also a message, which a thread outside may or may not send, could wake it.
    hears: Vec<bool>,
}

impl WaitGraph {
    /// Makes the graph of futures. Anything outside may complete a command, even a call.
    pub(crate) fn of_futures(processes: &[ProcessInfo], futures: &[PendingFuture]) -> Self {
        Self::new(processes, futures, |_| None)
    }

    /// Makes the graph of futures, and of processes that wait for answers to calls alone, assuming
    /// that no called process has passed its caller on.
    pub(crate) fn with_calls(processes: &[ProcessInfo], futures: &[PendingFuture]) -> Self {
        Self::new(processes, futures, waits_for_calls)
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

    /// Checks if nothing can wake it.
    pub(crate) fn is_stuck(&self, at: usize) -> bool {
        !self.hears[at]
    }

    /// Returns rings of stuck processes: one that each of them leads to, if it leads to any.
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

    /// For each process, one that it awaits, that is stuck, and from which a ring can be reached;
    /// `None` if all its ways end.
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

/// Marks all that await a marked one, directly or not.
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

/// Returns the processes that `process` calls, if it waits for their answers alone: it waits for
/// commands, all are calls, and none has a time limit.
fn waits_for_calls(process: &ProcessInfo) -> Option<Vec<Pid>> {
    let details = process.details.as_ref()?;
    let commands = &details.commands;
    if process.activity != Activity::Blocked || commands.len() != process.outstanding as usize {
        return None;
    }
    let callee = |command: &PendingCommand| command.calls.filter(|_| !command.is_limited);
    commands.iter().map(callee).collect()
}

#[cfg(all(test, not(shuttle)))]
mod tests;
