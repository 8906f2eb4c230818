//! The processes of a standstill that wait for each other.

use std::fmt;

use filch_scheduler::{Activity, Pid, ProcessInfo, Standstill};

use crate::report::wait_graph::WaitGraph;

/// The processes of a [`Standstill`] that wait for each other. Its `Display` is the standstill's
/// report, followed by these.
#[derive(Debug, Clone, Copy)]
pub struct Rings<'a>(&'a Standstill);

impl<'a> Rings<'a> {
    /// Wraps that standstill.
    pub fn of(standstill: &'a Standstill) -> Self {
        Self(standstill)
    }

    /// Returns the futures that nothing will wake, whatever the [verdict](Standstill::verdict) on
    /// the others: nothing elsewhere has a waker of theirs, and the processes that they await, if
    /// any, are futures in the same case.
    pub fn stuck(&self) -> Vec<Pid> {
        let graph = graph(self.0);
        let processes = self.0.processes.iter().enumerate();
        let stuck = processes.filter(|&(at, _)| graph.is_stuck(at));
        stuck.map(|(_, process)| process.pid).collect()
    }

    /// Returns the futures that wait only for each other, in rings: each awaits the next one, the
    /// last one the first. All are [stuck](Self::stuck). Each stuck future is in a ring, or leads
    /// to one through what it awaits, or waits in the end for a future that nothing wakes.
    pub fn rings(&self) -> Vec<Vec<Pid>> {
        pids(self.0, graph(self.0).rings())
    }

    /// Returns the rings of processes of which at least one waits for the answer to a call: each
    /// waits for the next, and the last for the first, either for answers alone or, as a future,
    /// for the end of others. Only of processes that have a [journal](ProcessInfo::details).
    ///
    /// They wait for ever, unless a process of the ring has passed its caller on to a thread, or to
    /// a process in no ring. That cannot be seen: so neither the [verdict](Standstill::verdict) nor
    /// [`stuck`](Self::stuck) says so.
    pub fn call_rings(&self) -> Vec<Vec<Pid>> {
        let graph = WaitGraph::with_calls(&self.0.processes, &self.0.futures);
        let mut rings = graph.rings();
        let calls = |process: &ProcessInfo| process.activity != Activity::Pending;
        rings.retain(|ring| ring.iter().any(|&at| calls(&self.0.processes[at])));
        pids(self.0, rings)
    }
}

fn graph(standstill: &Standstill) -> WaitGraph {
    WaitGraph::of_futures(&standstill.processes, &standstill.futures)
}

fn pids(standstill: &Standstill, rings: Vec<Vec<usize>>) -> Vec<Vec<Pid>> {
    let pid = |at: usize| standstill.processes[at].pid;
    let pids = |ring: Vec<usize>| ring.into_iter().map(pid).collect();
    rings.into_iter().map(pids).collect()
}

impl fmt::Display for Rings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        for ring in self.rings() {
            f.write_str("\nin a ring, for ever: ")?;
            ring.iter().try_for_each(|pid| write!(f, "{pid} awaits "))?;
            write!(f, "{}", ring[0])?;
        }
        for ring in self.call_rings() {
            f.write_str("\nin a ring, unless one has passed its caller on: ")?;
            for &pid in &ring {
                let is_future = self.0.futures.iter().any(|future| future.pid == pid);
                write!(f, "{pid} {} ", if is_future { "awaits" } else { "calls" })?;
            }
            write!(f, "{}", ring[0])?;
        }
        Ok(())
    }
}
