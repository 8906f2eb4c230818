//! The command line of `filch-build run`.

use std::error::Error;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;

use super::bar::Bar;
use super::build::Build;
use super::file::Graph;
use super::job::CACHE;
use super::summary::Summary;
use crate::storage::{Limits as StorageLimits, Location, Storage};
use crate::worker::{Limits, Runner, remove};

/// The arguments of `filch-build run`.
#[derive(Debug, Clone, Args)]
pub struct RunArguments {
    /// The graph: a TOML file in the folder of the project
    graph: PathBuf,
    /// The number of jobs that run at a time; by default, one for each processor
    #[arg(short, long)]
    jobs: Option<NonZero<usize>>,
    /// End the build when a job fails
    #[arg(long)]
    fail_fast: bool,
}

impl RunArguments {
    /// Runs the build and shows its progress.
    ///
    /// # Errors
    /// If the graph is wrong, or the cache cannot be used. A failed job is in the summary instead.
    pub async fn run(&self) -> Result<Summary, Box<dyn Error>> {
        let graph = Graph::read(&self.graph)?;
        let project = match self.graph.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let cache = project.join(CACHE);
        let location = Location::Disk(cache.join("storage"));
        let storage = Storage::open(&location, StorageLimits::default()).await?;
        // The storage is used by us alone, so nobody uses these.
        let folders = cache.join("actions");
        remove(&folders)?;
        let runner = Runner::new("here", folders, Limits::default());
        let mut bar = Bar::new(graph.jobs().len());
        let processors = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let mut build = Build::new(graph, project, runner, storage)?;
        build.at_a_time = self.jobs.unwrap_or_else(processors);
        build.fail_fast = self.fail_fast;
        let summary = build.run(&mut bar).await;
        bar.finish();
        Ok(summary?)
    }
}
