//! The TOML file of a graph, and the errors in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use serde::Deserialize;
use toml::Spanned;

use super::job::Job;
use crate::worker::{check_path, ways};

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
    #[serde(default)]
    network: bool,
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
            problem: format!("cannot be read: {error}"),
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
            error(at, None, wrong.message().to_owned())
        })?;
        let mut ids = HashMap::new();
        for (index, job) in parsed.job.iter().enumerate() {
            let id = job.id.get_ref().as_str();
            let wrong = |problem: &str| error(job.id.span().start, Some(id), problem.to_owned());
            if id.is_empty() {
                return Err(wrong("the id is empty"));
            }
            if ids.insert(id, index).is_some() {
                return Err(wrong("there is another job of this id"));
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
                let text = input.get_ref();
                if let Some(&maker) = ways(text).find_map(|way| outputs.get(way)) {
                    let maker = &jobs[maker].id;
                    let problem = format!(
                        "the input {text:?} is made by the job {maker:?}: name that in `deps`"
                    );
                    return Err(error(input.span().start, Some(&checked.id), problem));
                }
            }
        }
        let depends: Vec<_> = jobs.iter().map(|job| job.deps.as_slice()).collect();
        if let Some(cycle) = find_cycle(&depends) {
            let first = &parsed.job[cycle[0]].id;
            let ids = cycle.iter().chain([&cycle[0]]);
            let ids: Vec<_> = ids.map(|&job| &*jobs[job].id).collect();
            let ids = ids.join(" -> ");
            let problem = format!("jobs depend on each other in a circle: {ids}");
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
            problem: format!("no file matches the input {input:?}"),
        }
    }
}

/// A problem, and its position in the text.
type Wrong = (usize, String);

fn check(
    job: &JobText,
    common: &BTreeMap<String, String>,
    ids: &HashMap<&str, usize>,
    line: impl Fn(usize) -> usize,
) -> Result<Job, Wrong> {
    let start = job.id.span().start;
    let wrong = |problem: &str| Err((start, problem.to_owned()));
    let no_command = "there is no command";
    let command = match (&job.command, &job.sh) {
        (Some(_), Some(_)) => return wrong("there are both `command` and `sh`"),
        (Some(command), None) => command.clone(),
        (None, Some(script)) if !script.trim().is_empty() => {
            ["sh", "-c", script].map(str::to_owned).to_vec()
        }
        (None, _) => return wrong(no_command),
    };
    if command.first().is_none_or(String::is_empty) {
        return wrong(no_command);
    }
    if let Some(text) = command.iter().find(|text| text.contains('\0')) {
        return wrong(&format!("the argument {text:?} contains a zero byte"));
    }
    let mut env = common.clone();
    env.extend(job.env.clone());
    for (name, value) in &env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return wrong(&format!("{name:?} cannot be a variable of the environment"));
        }
    }
    let mut inputs = Vec::new();
    for input in &job.inputs {
        let at = input.span().start;
        let text = input.get_ref();
        check_path(text).map_err(|why| (at, format!("the input {why}")))?;
        let pattern = glob::Pattern::new(text);
        pattern.map_err(|why| (at, format!("the input {text:?}: {why}")))?;
        inputs.push((text.clone(), line(at)));
    }
    let mut deps = Vec::new();
    for dep in &job.deps {
        let id = dep.get_ref();
        let missing = || {
            (
                dep.span().start,
                format!("there is no job {id:?} to depend on"),
            )
        };
        deps.push(*ids.get(&**id).ok_or_else(missing)?);
    }
    deps.sort_unstable();
    deps.dedup();
    let mut outputs = Vec::new();
    for output in &job.outputs {
        let text = output.get_ref();
        let bad = |why| (output.span().start, format!("the output {why}"));
        check_path(text).map_err(bad)?;
        if text.split('/').next() == Some(super::job::CACHE) {
            return Err(bad(format!("{text:?} is in the cache")));
        }
        outputs.push(text.clone());
    }
    outputs.sort();
    let timeout = job.timeout.map(Duration::try_from_secs_f64).transpose();
    let is_bad = |timeout: &Duration| timeout.is_zero() || *timeout > MOST_TIME;
    let Some(timeout) = timeout
        .ok()
        .filter(|timeout| !timeout.as_ref().is_some_and(is_bad))
    else {
        return wrong("`timeout` is not a number of seconds above 0");
    };
    Ok(Job {
        id: job.id.get_ref().clone(),
        line: line(start),
        command,
        env,
        inputs,
        deps,
        outputs,
        timeout,
        network: job.network,
    })
}

/// The longest time limit: more than any job takes, and a number that messages can hold.
const MOST_TIME: Duration = Duration::from_secs(1_000_000_000);

/// The job that makes each output.
type Makers<'a> = BTreeMap<&'a str, usize>;

fn check_outputs(jobs: &[JobText]) -> Result<Makers<'_>, (usize, usize, String)> {
    let mut makers = Makers::new();
    let all = || {
        let jobs = jobs.iter().enumerate();
        jobs.flat_map(|(index, job)| job.outputs.iter().map(move |output| (index, output)))
    };
    for (index, output) in all() {
        let text = output.get_ref();
        if let Some(maker) = makers.insert(text.as_str(), index) {
            let maker = jobs[maker].id.get_ref();
            let problem = format!("the output {text:?} is one of the job {maker:?}, too");
            return Err((index, output.span().start, problem));
        }
    }
    for (index, output) in all() {
        let text = output.get_ref();
        let mut folders = ways(text).filter(|way| way != text);
        if let Some((folder, maker)) = folders.find_map(|way| makers.get_key_value(way)) {
            let maker = jobs[*maker].id.get_ref();
            let problem =
                format!("the output {text:?} and {folder:?} of the job {maker:?} overlap");
            return Err((index, output.span().start, problem));
        }
    }
    Ok(makers)
}

/// An error in the file of a graph, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphError {
    /// The file.
    pub file: Box<Path>,
    /// The line, from 1; 0 if the file could not be read.
    pub line: usize,
    /// The job, if the error is in one.
    pub job: Option<String>,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some(job) = &self.job {
            write!(f, ": job {job:?}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for GraphError {}

/// Finds a cycle in a graph, if there is one: nodes, each of which depends on the next, and the
/// last on the first.
pub(super) fn find_cycle(depends: &[&[usize]]) -> Option<Vec<usize>> {
    let mut dependents = vec![Vec::new(); depends.len()];
    let mut waits_for: Vec<_> = depends.iter().map(|all| all.len()).collect();
    for (node, all) in depends.iter().enumerate() {
        all.iter().for_each(|&other| dependents[other].push(node));
    }
    let mut free: Vec<_> = (0..depends.len())
        .filter(|&node| waits_for[node] == 0)
        .collect();
    while let Some(node) = free.pop() {
        for &dependent in &dependents[node] {
            waits_for[dependent] -= 1;
            if waits_for[dependent] == 0 {
                free.push(dependent);
            }
        }
    }
    // Each that is left depends on another one that is left: the way along these leads in a circle.
    let is_left = |node: &usize| waits_for[*node] > 0;
    let mut node = (0..depends.len()).find(is_left)?;
    let mut way = Vec::new();
    let mut places = vec![None; depends.len()];
    while places[node].is_none() {
        places[node] = Some(way.len());
        way.push(node);
        node = *depends[node].iter().find(|node| is_left(node))?;
    }
    Some(way.split_off(places[node]?))
}
