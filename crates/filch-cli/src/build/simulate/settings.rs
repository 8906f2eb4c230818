//! The settings of a simulation.

use std::path::PathBuf;

use super::error::BuildSimulateError;
use super::farm::Link;
use super::graph::{Graph, Shape};
use super::policy::Timeouts;
use super::simulation::Setup;

/// The settings of a simulation, and the folder of its plots.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) setup: Setup,
    pub(crate) timeouts: Timeouts,
    /// If given, sets the speed of the link, so that the transfer of all inputs takes that many
    /// times the run time of all jobs.
    pub(crate) ratio: Option<f64>,
    /// The folder for plots; with them, ratios and timeouts are swept.
    pub(crate) plots: Option<PathBuf>,
}

impl Settings {
    /// Checks options that are wrong only in combination.
    pub(super) fn check(&self) -> Result<(), BuildSimulateError> {
        if self.shape.layers > self.shape.jobs {
            let Shape { layers, jobs, .. } = self.shape;
            return Err(BuildSimulateError::Layers { layers, jobs });
        }
        let needs_inputs = self.ratio.is_some() || self.plots.is_some();
        if needs_inputs && self.shape.layers < 2 {
            return Err(BuildSimulateError::NoInputs);
        }
        Ok(())
    }

    /// Returns the farm, with the link for the ratio, and that ratio.
    pub(super) fn setup_for(&self, graph: &Graph) -> (Setup, f64) {
        let given = ratio(graph, self.setup.link);
        match self.ratio {
            None => (self.setup, given),
            Some(wanted) => (with_ratio(graph, self.setup, wanted), wanted),
        }
    }
}

/// Returns the farm with a link on which the transfer of all inputs takes `wanted` times the run
/// time of all jobs.
pub(super) fn with_ratio(graph: &Graph, setup: Setup, wanted: f64) -> Setup {
    let link = setup.link.slower(wanted / ratio(graph, setup.link));
    Setup { link, ..setup }
}

/// Returns the ratio of the transfer of all inputs of all jobs to their run time.
pub(super) fn ratio(graph: &Graph, link: Link) -> f64 {
    let (inputs, bytes) = graph.all_inputs();
    let run: f64 = (0..graph.jobs()).map(|job| graph.run(job) as f64).sum();
    link.seconds(inputs, bytes) / (run / 1e9)
}
