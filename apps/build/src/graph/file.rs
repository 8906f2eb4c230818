//! The TOML file of a graph.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::error::{GraphError, Problem};
use super::job::Job;
use super::order::find_cycle;
use crate::worker::check_path;

/// Jobs that depend on each other, checked.
#[derive(Debug, Clone)]
pub struct Graph {
    pub(super) file: PathBuf,
    pub(super) jobs: Vec<Job>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    job: Vec<JobText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobText {
    id: Spanned<String>,
    command: Option<Vec<String>>,
    sh: Option<String>,
    #[serde(default)]
    inputs: Vec<Spanned<String>>,
    #[serde(default)]
    deps: Vec<Spanned<String>>,
    #[serde(default)]
    outputs: Vec<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout: Option<f64>,
}

impl Graph {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a graph.
    pub fn read(file: &Path) -> Result<Self, GraphError> {
        let text = fs::read_to_string(file).map_err(|error| GraphError {
            file: file.into(),
            line: 0,
            job: None,
            problem: Problem::Unreadable(error.to_string()),
        })?;
        Self::parse(file, &text)
    }

    /// Checks the text of a file.
    ///
    /// # Errors
    /// If it is not a graph.
    pub fn parse(file: &Path, text: &str) -> Result<Self, GraphError> {
        let ends: Vec<_> = text.match_indices('\n').map(|(end, _)| end).collect();
        let line = |at: usize| 1 + ends.partition_point(|&end| end < at);
        let error = |at: usize, job: Option<&str>, problem| GraphError {
            file: file.into(),
            line: line(at),
            job: job.map(str::to_owned),
            problem,
        };
        let parsed: Text = toml::from_str(text).map_err(|wrong| {
            let at = wrong.span().map_or(0, |span| span.start);
            error(at, None, Problem::Syntax(wrong.message().to_owned()))
        })?;
        let mut ids = HashMap::new();
        for (index, job) in parsed.job.iter().enumerate() {
            let id = job.id.get_ref().as_str();
            let wrong = |problem| error(job.id.span().start, Some(id), problem);
            if id.is_empty() {
                return Err(wrong(Problem::NoId));
            }
            if ids.insert(id, index).is_some() {
                return Err(wrong(Problem::DuplicateJob));
            }
        }
        let mut jobs = Vec::new();
        for job in &parsed.job {
            let checked = check(job, &parsed.env, &ids, line);
            let id = job.id.get_ref();
            jobs.push(checked.map_err(|(at, problem)| error(at, Some(id), problem))?);
        }
        let outputs = check_outputs(&parsed.job)
            .map_err(|(job, at, problem)| error(at, Some(&jobs[job].id), problem))?;
        for (job, checked) in parsed.job.iter().zip(&jobs) {
            for input in &job.inputs {
                if let Some(maker) = maker(&outputs, input.get_ref()) {
                    let problem = Problem::InputIsOutput {
                        input: input.get_ref().clone(),
                        job: jobs[maker].id.clone(),
                    };
                    return Err(error(input.span().start, Some(&checked.id), problem));
                }
            }
        }
        let depends: Vec<_> = jobs.iter().map(|job| job.deps.as_slice()).collect();
        if let Some(cycle) = find_cycle(&depends) {
            let first = &parsed.job[cycle[0]].id;
            let ids = cycle
                .iter()
                .chain([&cycle[0]])
                .map(|job| jobs[*job].id.clone());
            let problem = Problem::Cycle(ids.collect());
            return Err(error(first.span().start, Some(first.get_ref()), problem));
        }
        Ok(Self {
            file: file.to_owned(),
            jobs,
        })
    }

    /// The jobs, in the order of the file.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Makes the error for a missing input of a job.
    pub(super) fn missing(&self, job: &Job, input: &str) -> GraphError {
        let line = job.inputs.iter().find(|(pattern, _)| pattern == input);
        GraphError {
            file: self.file.as_path().into(),
            line: line.map_or(job.line, |(_, line)| *line),
            job: Some(job.id.clone()),
            problem: Problem::MissingInput(input.to_owned()),
        }
    }
}

/// A problem, and its position in the text.
type Wrong = (usize, Problem);

fn check(
    job: &JobText,
    common: &BTreeMap<String, String>,
    ids: &HashMap<&str, usize>,
    line: impl Fn(usize) -> usize,
) -> Result<Job, Wrong> {
    let start = job.id.span().start;
    let command = match (&job.command, &job.sh) {
        (Some(_), Some(_)) => return Err((start, Problem::TwoCommands)),
        (Some(command), None) => command.clone(),
        (None, Some(script)) if !script.trim().is_empty() => {
            ["sh", "-c", script].map(str::to_owned).to_vec()
        }
        (None, _) => return Err((start, Problem::NoCommand)),
    };
    if command.first().is_none_or(String::is_empty) {
        return Err((start, Problem::NoCommand));
    }
    if let Some(text) = command.iter().find(|text| text.contains('\0')) {
        let why = format!("the argument {text:?} contains a zero byte");
        return Err((start, Problem::BadText(why)));
    }
    let mut env = common.clone();
    env.extend(job.env.clone());
    for (name, value) in &env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            let why = format!("{name:?} cannot be a variable of the environment");
            return Err((start, Problem::BadText(why)));
        }
    }
    let mut inputs = Vec::new();
    for input in &job.inputs {
        let at = input.span().start;
        let bad = |why| (at, Problem::BadPath(why));
        check_path(input.get_ref()).map_err(|why| bad(format!("the input {why}")))?;
        glob::Pattern::new(input.get_ref())
            .map_err(|why| bad(format!("the input {:?}: {why}", input.get_ref())))?;
        inputs.push((input.get_ref().clone(), line(at)));
    }
    let mut deps = Vec::new();
    for dep in &job.deps {
        let missing = || Problem::MissingDependency(dep.get_ref().clone());
        let index = ids.get(dep.get_ref().as_str());
        deps.push(*index.ok_or_else(|| (dep.span().start, missing()))?);
    }
    deps.sort_unstable();
    deps.dedup();
    let mut outputs = Vec::new();
    for output in &job.outputs {
        let bad = |why| {
            (
                output.span().start,
                Problem::BadPath(format!("the output {why}")),
            )
        };
        check_path(output.get_ref()).map_err(bad)?;
        if output.get_ref().split('/').next() == Some(super::job::CACHE) {
            return Err(bad(format!("{:?} is in the cache", output.get_ref())));
        }
        outputs.push(output.get_ref().clone());
    }
    outputs.sort();
    let timeout = job.timeout.map(Duration::try_from_secs_f64).transpose();
    let timeout = timeout.map_err(|_| (start, Problem::BadTimeout))?;
    if timeout.is_some_and(|timeout| timeout.is_zero() || timeout > MOST_TIME) {
        return Err((start, Problem::BadTimeout));
    }
    Ok(Job {
        id: job.id.get_ref().clone(),
        line: line(start),
        command,
        env,
        inputs,
        deps,
        outputs,
        timeout,
    })
}

/// The longest time limit: more than any job takes, and a number that messages can hold.
const MOST_TIME: Duration = Duration::from_secs(1_000_000_000);

/// The job that makes each output.
type Makers<'a> = BTreeMap<&'a str, usize>;

fn check_outputs(jobs: &[JobText]) -> Result<Makers<'_>, (usize, usize, Problem)> {
    let mut makers = Makers::new();
    let all = || {
        let jobs = jobs.iter().enumerate();
        jobs.flat_map(|(index, job)| job.outputs.iter().map(move |output| (index, output)))
    };
    let duplicate =
        |output: &Spanned<String>, other: &str, maker: usize| Problem::DuplicateOutput {
            output: output.get_ref().clone(),
            other: other.to_owned(),
            job: jobs[maker].id.get_ref().clone(),
        };
    for (index, output) in all() {
        if let Some(maker) = makers.insert(output.get_ref().as_str(), index) {
            let problem = duplicate(output, output.get_ref(), maker);
            return Err((index, output.span().start, problem));
        }
    }
    for (index, output) in all() {
        let folders = output
            .get_ref()
            .match_indices('/')
            .map(|(end, _)| &output.get_ref()[..end]);
        for folder in folders {
            if let Some(maker) = makers.get(folder) {
                let problem = duplicate(output, folder, *maker);
                return Err((index, output.span().start, problem));
            }
        }
    }
    Ok(makers)
}

/// Finds the job that makes this path, or a folder that contains it.
fn maker(makers: &Makers<'_>, path: &str) -> Option<usize> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    let mut ways = ends.chain([path.len()]).map(|end| &path[..end]);
    ways.find_map(|way| makers.get(way).copied())
}
