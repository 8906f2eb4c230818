//! A build on a farm, in virtual time: the same graph under several policies.
//!
//! `graph` makes the jobs. `farm` has the workers, with a `cache` each. `simulation` is the course
//! of a build; it asks one of the policies in `policy` which worker runs what, one of which is the
//! planner of filch's build scheduler. `figures` are what comes of it; `sweep` repeats it on other
//! links and with other timeouts; `report` and `plots` show it.
//!
//! The same settings give the same figures and the same plots, to the last byte.

mod arguments;
mod cache;
mod chart;
mod error;
mod farm;
mod figures;
mod graph;
mod plots;
mod policy;
mod report;
mod settings;
mod simulation;
mod sweep;
#[cfg(test)]
mod tests;
mod trials;

pub(crate) use arguments::Arguments;
pub(crate) use error::BuildSimulateError;
pub(crate) use report::Report;
use settings::Settings;

use graph::{Graph, Time};
use policy::Kind;
use report::Sweeps;
use simulation::Setup;
use trials::{Trial, run_all};

use crate::progress::Progress;

/// Simulates all policies, and draws the plots.
pub(crate) fn run(settings: &Settings) -> Result<Report, BuildSimulateError> {
    // What may be refused comes before the work.
    settings.check()?;
    if let Some(folder) = &settings.plots {
        plots::prepare(folder)?;
    }
    let graph = Graph::generate(&settings.shape);
    let (setup, ratio) = settings.setup_for(&graph);
    let sweeps = if settings.plots.is_some() {
        sweep::TRIALS
    } else {
        0
    };
    let progress = Progress::of_jobs(u64::from(graph.jobs()) * (Kind::ALL.len() as u64 + sweeps));
    let timeouts = settings.timeouts;
    let trial = |kind| Trial {
        kind,
        setup,
        timeouts,
    };
    let trials = Kind::ALL.map(trial);
    let mut report = Report {
        shape: settings.shape,
        setup,
        timeouts,
        inputs: graph.all_inputs().0 as f64 / f64::from(graph.jobs()),
        ratio,
        bounds: bounds(&graph, &setup),
        policies: run_all(&trials, &graph, &progress)?,
        sweeps: None,
    };
    if let Some(folder) = &settings.plots {
        let ratios = sweep::over_ratios(&graph, setup, timeouts, &progress)?;
        let timeouts = sweep::over_timeouts(&graph, setup, timeouts, &progress)?;
        let shown = plots::Shown {
            ratios: &ratios,
            timeouts: &timeouts,
            policies: &report.policies,
            least: report.bounds.least() as f64,
            slots: slots(&setup),
        };
        let files = plots::draw(folder, &shown)?;
        report.sweeps = Some(Sweeps {
            ratios,
            timeouts,
            files,
        });
    }
    Ok(report)
}

fn slots(setup: &Setup) -> u64 {
    u64::from(setup.workers) * u64::from(setup.slots)
}

/// The lower bounds of the makespan. A result that is cached may take no time.
fn bounds(graph: &Graph, setup: &Setup) -> graph::Bounds {
    let mut run: Vec<Time> = (0..graph.jobs()).map(|job| graph.run(job)).collect();
    for (job, _) in setup.cached_results(graph.jobs()) {
        run[job as usize] = 0;
    }
    graph.bounds(slots(setup), |job| run[job as usize])
}
