//! Many simulations of one graph, on as many threads as there are cores.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use super::error::BuildSimulateError;
use super::figures::Figures;
use super::graph::Graph;
use super::policy::{Kind, Timeouts};
use super::simulation::{self, Setup};
use crate::progress::Progress;

/// The jobs that the bar counts at once: one takes less than a microsecond, less than counting.
const AT_A_TIME: u64 = 4_096;

/// One simulation: a policy on a farm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    pub(super) kind: Kind,
    pub(super) setup: Setup,
    pub(super) timeouts: Timeouts,
}

impl Trial {
    fn run(&self, graph: &Graph, progress: &Progress) -> Result<Figures, BuildSimulateError> {
        let began = Instant::now();
        let (jobs, setup) = (graph.jobs(), &self.setup);
        let mut policy = self.kind.policy(setup.workers, self.timeouts, setup.seed);
        let ended = Cell::new(0_u64);
        let tick = || {
            ended.set(ended.get() + 1);
            if ended.get().is_multiple_of(AT_A_TIME) {
                progress.add(AT_A_TIME);
            }
        };
        let outcome = simulation::simulate(graph, setup, &mut *policy, &tick);
        progress.add(ended.get() % AT_A_TIME);
        let stuck = |ended| BuildSimulateError::Stuck {
            policy: self.kind,
            ended,
            jobs,
        };
        let outcome = outcome.map_err(stuck)?;
        Ok(Figures::of(self.kind, &outcome, began.elapsed()))
    }
}

/// Runs all of them; the results are in their order.
pub(super) fn run_all(
    trials: &[Trial],
    graph: &Graph,
    progress: &Progress,
) -> Result<Vec<Figures>, BuildSimulateError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        // ORDERING: Relaxed: the numbers only have to differ; what is done comes by the join.
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(trial) = trials.get(at)
        {
            done.push((at, trial.run(graph, progress)));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut done = thread::scope(|scope| {
        // A refused thread does no harm: this thread works, too.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(trials.len())).filter_map(start).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, figures)| figures).collect()
}
