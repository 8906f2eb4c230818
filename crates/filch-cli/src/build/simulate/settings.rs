//! What is simulated.

use std::path::PathBuf;

use super::error::BuildSimulateError;
use super::farm::Link;
use super::graph::{Graph, Shape};
use super::policy::Timeouts;
use super::simulation::Setup;

/// What is simulated, and where the plots go.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) setup: Setup,
    pub(crate) timeouts: Timeouts,
    /// If given, the link is made so much slower or faster that the transfer of all inputs takes
    /// that many times the time that all jobs run.
    pub(crate) ratio: Option<f64>,
    /// The folder for plots; with them, ratios and timeouts are swept.
    pub(crate) plots: Option<PathBuf>,
}

impl Settings {
    /// What no single option can be blamed for.
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

    /// The farm, with the link that the ratio means, and that ratio.
    pub(super) fn setup_for(&self, graph: &Graph) -> (Setup, f64) {
        let given = ratio(graph, self.setup.link);
        match self.ratio {
            None => (self.setup, given),
            Some(wanted) => (with_ratio(graph, self.setup, wanted), wanted),
        }
    }
}

/// The same farm with a link on which the transfer of all inputs takes `wanted` times the time that
/// all jobs run.
pub(super) fn with_ratio(graph: &Graph, setup: Setup, wanted: f64) -> Setup {
    let link = setup.link.slower(wanted / ratio(graph, setup.link));
    Setup { link, ..setup }
}

/// How long the transfer of all inputs of all jobs takes, to how long these run.
pub(super) fn ratio(graph: &Graph, link: Link) -> f64 {
    let (inputs, bytes) = graph.all_inputs();
    let run: f64 = (0..graph.jobs()).map(|job| graph.run(job) as f64).sum();
    link.seconds(inputs, bytes) / (run / 1e9)
}
