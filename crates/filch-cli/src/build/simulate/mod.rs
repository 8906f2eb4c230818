//! A build on a farm, in virtual time: the same graph under several policies.
//!
//! `graph` makes the jobs. `farm` has the workers, with a cache each. `simulation` is the course of
//! a build; it asks one of the policies in `policy` which worker runs what, one of which is the
//! planner of filch's build scheduler. `figures` has the outcome, and `report` shows it.
//!
//! The same options give the same figures, to the last byte.

mod arguments;
mod farm;
mod figures;
mod graph;
mod policy;
mod random;
mod report;
mod setting;
mod simulation;
#[cfg(test)]
mod tests;

use std::time::Instant;

use filch::build_scheduler::Config;
use filch::fork_join;

pub(crate) use arguments::Arguments;
pub(crate) use report::Report;

use farm::Link;
use figures::Figures;
use graph::{Graph, Time};
use policy::{Kind, Policy, Pooled};
use setting::{Setting, members};
use simulation::{Setup, simulate};

/// Simulates all policies.
///
/// # Errors
/// The reason why other arguments are needed.
pub(crate) fn run(arguments: &Arguments) -> Result<Report, String> {
    // A refusal comes before the work.
    arguments.check()?;
    let (shape, waits) = (arguments.shape(), arguments.waits());
    let farm = arguments.farm.as_ref();
    let graph = Graph::generate(&farm.map_or(vec![shape], |farm| farm.shapes(shape)));
    let mut setup = arguments.setup();
    let mut ratio = ratio(&graph, setup.link);
    if let Some(wanted) = arguments.ratio {
        setup.link = setup.link.slower(wanted / ratio);
        ratio = wanted;
    }
    Ok(Report {
        shape,
        setup,
        waits,
        inputs: graph.all_inputs().0 as f64 / f64::from(graph.jobs()),
        ratio,
        bounds: bounds(&graph, &setup, farm),
        policies: simulate_all(&graph, &setup, waits, farm)?,
    })
}

/// Simulates the build once under each policy, as many at a time as there are cores.
fn simulate_all(
    graph: &Graph,
    setup: &Setup,
    waits: Config,
    farm: Option<&Setting>,
) -> Result<Vec<Figures>, String> {
    let run = |kind: Kind| {
        let began = Instant::now();
        let mut policy: Box<dyn Policy> = match farm {
            None => kind.policy(setup.workers, waits),
            Some(farm) => Box::new(Pooled::new(kind, farm, waits)),
        };
        match simulate(graph, setup, &mut *policy) {
            Ok(outcome) => Ok(Figures::of(kind, &outcome, farm, began.elapsed())),
            Err(ended) => {
                let (waiting, jobs) = (graph.jobs() - ended, graph.jobs());
                Err(format!(
                    "with the policy `{kind}`, {waiting} of {jobs} jobs wait for ever: each needs \
                     a worker that fits, and if none is near, a timeout that ends"
                ))
            }
        }
    };
    let mut results = Kind::ALL.map(|_| None);
    fork_join::scope(|scope| {
        for (kind, result) in Kind::ALL.into_iter().zip(&mut results) {
            let run = &run;
            scope.spawn(move |_, _| *result = Some(run(kind)));
        }
    });
    results.into_iter().flatten().collect()
}

/// Returns the ratio of the transfer of all inputs of all jobs to their run time.
fn ratio(graph: &Graph, link: Link) -> f64 {
    let (inputs, bytes) = graph.all_inputs();
    let run: f64 = (0..graph.jobs()).map(|job| graph.run(job) as f64).sum();
    link.seconds(inputs, bytes) / (run / 1e9)
}

/// Returns the lower bounds of the makespan. A result that is cached may take no time.
fn bounds(graph: &Graph, setup: &Setup, farm: Option<&Setting>) -> graph::Bounds {
    let mut run: Vec<Time> = (0..graph.jobs()).map(|job| graph.run(job)).collect();
    for (job, _) in setup.cached_results(graph.jobs()) {
        run[job as usize] = 0;
    }
    let slots = match farm {
        None => u64::from(setup.workers) * u64::from(setup.slots),
        Some(farm) => members(&farm.pools).iter().map(|it| it.cpus()).sum(),
    };
    graph.bounds(slots, |job| run[job as usize])
}
