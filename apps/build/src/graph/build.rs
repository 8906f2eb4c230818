//! Runs the jobs of a graph.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{future, io};

use bazel_remote_apis::google::protobuf;
use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use prost::Message;
use tokio::sync::Mutex;

use super::bring::Bringer;
use super::file::{Graph, GraphError};
use super::job::{Job, JobError, Outcome, Summary};
use super::sources::{self, Sources};
use super::tree::{Folder, Node};
use crate::digest::Digest;
use crate::reapi::command::EnvironmentVariable;
use crate::reapi::{Action, ActionResult, Command, Platform, platform};
use crate::storage::{Storage, StoredResult};
use crate::worker::{NETWORK, Runner};

/// The default search path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Observes a build.
pub trait Watch {
    /// Called before the command of a job is looked up, and run if its result is not known.
    fn started(&mut self, job: &Job);

    /// Called when a job has ended; `stderr` is what its command wrote.
    fn ended(&mut self, job: &Job, outcome: &Outcome, stderr: &[u8]);
}

/// A build of a graph.
#[derive(Debug)]
pub struct Build {
    graph: Graph,
    project: PathBuf,
    runner: Runner,
    storage: Storage,
    bringer: Bringer,
    /// The number of jobs that run at a time.
    pub at_a_time: NonZero<usize>,
    /// True if the build ends when a job fails; else it goes on with what does not depend on it.
    pub fail_fast: bool,
}

/// The end of a job, and its outputs.
struct End {
    job: usize,
    outcome: Outcome,
    nodes: Vec<(String, Node)>,
    stderr: Bytes,
    time: Duration,
}

impl Build {
    /// Prepares a build of this graph in this project: this runner runs its actions, and what they
    /// read and make is in this storage.
    ///
    /// # Errors
    /// If the folder of the project cannot be used.
    pub fn new(graph: Graph, project: &Path, runner: Runner, storage: Storage) -> io::Result<Self> {
        let project = project.canonicalize()?;
        Ok(Self {
            bringer: Bringer::new(&project)?,
            graph,
            project,
            runner,
            storage,
            at_a_time: NonZero::<usize>::MIN,
            fail_fast: false,
        })
    }

    /// Runs all jobs. If the future is dropped, running commands are killed; outputs are whole or
    /// as they were.
    ///
    /// # Errors
    /// If an input is not there: then nothing has been run.
    pub async fn run(&self, watch: &mut impl Watch) -> Result<Summary, GraphError> {
        let begin = Instant::now();
        let inputs = sources::find(&self.graph, &self.project)?;
        let sources = Mutex::new(Sources::new(&self.project));
        let jobs = &self.graph.jobs;
        let mut dependents = vec![Vec::new(); jobs.len()];
        let mut waits_for: Vec<_> = jobs.iter().map(|job| job.deps.len()).collect();
        for (index, job) in jobs.iter().enumerate() {
            job.deps.iter().for_each(|&dep| dependents[dep].push(index));
        }
        let ready = (0..jobs.len()).rev().filter(|&job| waits_for[job] == 0);
        let mut ready: Vec<_> = ready.collect();
        let mut nodes: Vec<Option<Vec<(String, Node)>>> = vec![None; jobs.len()];
        let mut chains = Chains::new(jobs.len());
        let mut summary = Summary::default();
        let mut running = FuturesUnordered::new();
        let mut is_over = false;
        loop {
            while running.len() < self.at_a_time.get() && !is_over {
                let Some(job) = ready.pop() else { break };
                watch.started(&jobs[job]);
                let made = jobs[job].deps.iter().filter_map(|&dep| nodes[dep].clone());
                let made = made.flatten().collect();
                running.push(self.job(job, &inputs[job], made, &sources));
            }
            let Some(end) = running.next().await else {
                break;
            };
            watch.ended(&jobs[end.job], &end.outcome, &end.stderr);
            summary.count(&end.outcome);
            chains.add(end.job, &jobs[end.job], end.time);
            if let Outcome::Failed(_) = end.outcome {
                is_over |= self.fail_fast;
                if is_over {
                    // Dropping what runs kills it.
                    running.clear();
                }
                continue;
            }
            nodes[end.job] = Some(end.nodes);
            for &dependent in dependents[end.job].iter().rev() {
                waits_for[dependent] -= 1;
                if waits_for[dependent] == 0 {
                    ready.push(dependent);
                }
            }
        }
        for (index, job) in jobs.iter().enumerate() {
            if nodes[index].is_none() && !chains.has(index) {
                watch.ended(job, &Outcome::Skipped, &[]);
                summary.count(&Outcome::Skipped);
            }
        }
        (summary.critical_path, summary.critical_time) = chains.longest(jobs);
        summary.time = begin.elapsed();
        Ok(summary)
    }

    async fn job(
        &self,
        index: usize,
        inputs: &[String],
        made: Vec<(String, Node)>,
        sources: &Mutex<Sources>,
    ) -> End {
        let begin = Instant::now();
        let mut stderr = Bytes::new();
        let job = &self.graph.jobs[index];
        let ended = self.run_job(job, inputs, made, sources, &mut stderr).await;
        let (outcome, nodes) = match ended {
            Ok((nodes, true)) => (Outcome::Cached, nodes),
            Ok((nodes, false)) => (Outcome::Built, nodes),
            Err(error) => (Outcome::Failed(error), Vec::new()),
        };
        End {
            job: index,
            outcome,
            nodes,
            stderr,
            time: begin.elapsed(),
        }
    }

    /// Runs the job, or looks its result up; returns its outputs, and whether they were known.
    async fn run_job(
        &self,
        job: &Job,
        inputs: &[String],
        made: Vec<(String, Node)>,
        sources: &Mutex<Sources>,
        stderr: &mut Bytes,
    ) -> Result<(Vec<(String, Node)>, bool), JobError> {
        let mut root = Folder::default();
        for path in inputs {
            let node = sources
                .lock()
                .await
                .store(path, &self.storage.blobs)
                .await?;
            root.add(path, node)?;
        }
        for (path, node) in made {
            root.add(&path, node)?;
        }
        let mut messages = Vec::new();
        let root = root.encode(&mut messages);
        let action = action(job, root, &mut messages);
        for (digest, bytes) in messages {
            self.storage.blobs.add(digest, bytes).await?;
        }
        let (result, cached) = self.execute(action).await?;
        *stderr = self.stderr(&result).await?;
        if result.exit_code != 0 {
            return Err(JobError::ExitCode(result.exit_code));
        }
        let nodes = self
            .bringer
            .bring(&job.outputs, &result, &self.storage.blobs);
        Ok((nodes.await?, cached))
    }

    /// Runs the action, unless its result is known; returns that, and true if it was known.
    async fn execute(&self, action: Digest) -> Result<(ActionResult, bool), JobError> {
        let Storage { blobs, results } = &self.storage;
        if let Some(known) = results.get(action.hash()).await? {
            return Ok((known.into_message(), true));
        }
        let result = self.runner.run(action, blobs, future::pending()).await?;
        if result.exit_code == 0 {
            let stored = StoredResult::try_from(&result);
            let stored = stored.map_err(|error| JobError::Unusable(error.to_string()))?;
            results.put(action.hash(), stored).await?;
        }
        Ok((result, false))
    }

    async fn stderr(&self, result: &ActionResult) -> Result<Bytes, JobError> {
        match result.stderr_digest.as_ref().map(Digest::try_from) {
            Some(digest) => Ok(self.storage.blobs.read(digest?).await?),
            None => Ok(result.stderr_raw.clone().into()),
        }
    }
}

/// Computes the digest of the job's action; adds the messages.
fn action(job: &Job, root: Digest, messages: &mut Vec<(Digest, Bytes)>) -> Digest {
    let mut add = |bytes: Vec<u8>| {
        let digest = Digest::of(&bytes);
        messages.push((digest, bytes.into()));
        digest
    };
    let mut variables = job.env.clone();
    variables
        .entry("PATH".to_owned())
        .or_insert_with(|| PATH.to_owned());
    let variable = |(name, value)| EnvironmentVariable { name, value };
    let command = Command {
        arguments: job.command.clone(),
        environment_variables: variables.into_iter().map(variable).collect(),
        output_paths: job.outputs.clone(),
        ..Command::default()
    };
    let timeout = job.timeout.map(|timeout| protobuf::Duration {
        seconds: timeout.as_secs().cast_signed(),
        nanos: timeout.subsec_nanos().cast_signed(),
    });
    let network = platform::Property {
        name: NETWORK.0.to_owned(),
        value: NETWORK.1.to_owned(),
    };
    let action = Action {
        platform: job.network.then(|| Platform {
            properties: vec![network],
        }),
        command_digest: Some(add(command.encode_to_vec()).into()),
        input_root_digest: Some(root.into()),
        timeout,
        ..Action::default()
    };
    add(action.encode_to_vec())
}

/// The longest chain up to each job that has ended: its time, and the job before in it.
struct Chains {
    ends: Vec<Option<(Duration, Option<usize>)>>,
}

impl Chains {
    fn new(jobs: usize) -> Self {
        Self {
            ends: vec![None; jobs],
        }
    }

    fn has(&self, job: usize) -> bool {
        self.ends[job].is_some()
    }

    fn add(&mut self, index: usize, job: &Job, time: Duration) {
        let ends = job
            .deps
            .iter()
            .filter_map(|&dep| Some((self.ends[dep]?.0, dep)));
        let before = ends.max();
        let sum = time + before.map_or(Duration::ZERO, |(sum, _)| sum);
        self.ends[index] = Some((sum, before.map(|(_, dep)| dep)));
    }

    fn longest(&self, jobs: &[Job]) -> (Vec<String>, Duration) {
        let ends = self.ends.iter().enumerate();
        let last = ends
            .filter_map(|(job, end)| Some((end.as_ref()?.0, job)))
            .max();
        let mut ids = Vec::new();
        let mut at = last.map(|(_, job)| job);
        while let Some(job) = at {
            ids.push(jobs[job].id.clone());
            at = self.ends[job].and_then(|(_, before)| before);
        }
        ids.reverse();
        (ids, last.map_or(Duration::ZERO, |(sum, _)| sum))
    }
}
