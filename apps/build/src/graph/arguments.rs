//! The command line of `filch-build run`, and its progress on the terminal.

use std::error::Error;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::build::{Build, Watch};
use super::file::Graph;
use super::job::{CACHE, Job, Outcome, Summary};
use crate::storage::{Limits as StorageLimits, Location, Storage};
use crate::worker::{Limits, Runner, SandboxOptions, remove};

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
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    limits: Limits,
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
        let sandbox = self.sandbox.open(&cache, &[]).await?;
        let runner = Runner::new("here", folders, self.limits.clone(), sandbox);
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

/// Shows a build on the terminal: a bar, and the standard error of commands.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    running: Vec<String>,
    cached: usize,
}

impl Bar {
    /// Makes a bar for that many jobs.
    pub fn new(jobs: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
        let bar = ProgressBar::new(jobs as u64);
        bar.set_style(style.expect("the template is right"));
        Self {
            bar,
            running: Vec::new(),
            cached: 0,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        let names = self.running.join(", ");
        self.bar
            .set_message(format!("{} cached; {names}", self.cached));
    }

    /// Prints above the bar; also if there is no terminal.
    fn print(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }
}

impl Watch for Bar {
    fn started(&mut self, job: &Job) {
        self.running.push(job.id().to_owned());
        self.show();
    }

    fn ended(&mut self, job: &Job, outcome: &Outcome, stderr: &[u8]) {
        self.running.retain(|id| id != job.id());
        match outcome {
            Outcome::Cached => self.cached += 1,
            Outcome::Failed(error) => self.print(&format!("job {:?} failed: {error}", job.id())),
            Outcome::Skipped => self.print(&format!("job {:?} is skipped", job.id())),
            Outcome::Built => {}
        }
        if !stderr.is_empty() && !matches!(outcome, Outcome::Cached) {
            self.print(String::from_utf8_lossy(stderr).trim_end());
        }
        self.bar.inc(1);
        self.show();
    }
}
