//! The command of an action, checked.

use std::collections::HashSet;
use std::time::Duration;

use super::error::RunError;
use super::inputs::Inputs;
use super::names::{normal, ways};
use crate::reapi::{self, Action, command::OutputDirectoryFormat};

/// The command of an action, checked.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    /// The working directory, below the folder of the action; may be empty.
    pub(super) directory: String,
    /// The outputs, relative to `directory`, sorted.
    pub(super) outputs: Vec<Output>,
    /// True if folders among the outputs are wanted as blobs of their own.
    pub(super) wants_directories: bool,
}

/// An output that an action should make.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Output {
    pub(super) path: String,
    pub(super) kind: Kind,
}

/// The kind that an output should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    File,
    Folder,
    Any,
}

impl Command {
    /// Checks the command.
    pub(super) fn new(command: reapi::Command) -> Result<Self, RunError> {
        Self::check(command).map_err(|why| RunError::Refused(format!("its command: {why}")))
    }

    #[expect(deprecated, reason = "clients of version 2.0 use these fields")]
    fn check(command: reapi::Command) -> Result<Self, String> {
        if command.arguments.first().is_none_or(String::is_empty) {
            return Err("it names no program".to_owned());
        }
        if command.arguments.iter().any(|text| text.contains('\0')) {
            return Err("an argument contains a zero byte".to_owned());
        }
        if let Some(property) = command.output_node_properties.first() {
            return Err(format!("the node property {property:?} is not supported"));
        }
        let directory = normal(&command.working_directory);
        let directory = directory.map_err(|why| format!("the working directory: {why}"))?;
        // As since version 2.1.
        let outputs = if !command.output_paths.is_empty() {
            vec![(command.output_paths, Kind::Any)]
        } else {
            vec![
                (command.output_files, Kind::File),
                (command.output_directories, Kind::Folder),
            ]
        };
        let outputs = outputs.into_iter().flat_map(|(paths, kind)| {
            let output = move |path| Output { path, kind };
            paths.into_iter().map(output)
        });
        let format = command.output_directory_format;
        Ok(Self {
            arguments: command.arguments,
            environment: environment(command.environment_variables)?,
            directory,
            outputs: check_outputs(outputs.collect())?,
            wants_directories: format != OutputDirectoryFormat::TreeOnly as i32,
        })
    }

    /// Lists the folders that must be there before it runs, relative to the folder of the action.
    ///
    /// # Errors
    /// If an input is in the way of one of them, or the working directory is missing.
    pub(super) fn folders(&self, inputs: &Inputs) -> Result<Vec<String>, RunError> {
        let folder = &self.directory;
        if !folder.is_empty() && !inputs.folders.contains(folder) {
            let why = format!("the working directory {folder:?} is not among its inputs");
            return Err(RunError::Refused(why));
        }
        let files = inputs.files.iter().map(|file| &file.path);
        let links = inputs.links.iter().map(|link| &link.path);
        let taken: HashSet<_> = files.chain(links).map(String::as_str).collect();
        let mut folders = Vec::new();
        for output in &self.outputs {
            let Some((parent, _)) = output.path.rsplit_once('/') else {
                continue;
            };
            let parent = if folder.is_empty() {
                parent.to_owned()
            } else {
                format!("{folder}/{parent}")
            };
            if let Some(input) = ways(&parent).find(|way| taken.contains(way)) {
                let why = format!(
                    "the input {input:?} is where the output {:?} needs a folder",
                    output.path
                );
                return Err(RunError::Refused(why));
            }
            folders.push(parent);
        }
        folders.dedup();
        Ok(folders)
    }
}

fn check_outputs(mut outputs: Vec<Output>) -> Result<Vec<Output>, String> {
    for output in &mut outputs {
        output.path = normal(&output.path).map_err(|why| format!("the output: {why}"))?;
        // The whole working directory.
        if output.path.is_empty() && output.kind == Kind::File {
            return Err("the output: a file without a name".to_owned());
        }
    }
    outputs.sort();
    if let Some(pair) = outputs.windows(2).find(|pair| pair[0].path == pair[1].path) {
        return Err(format!("the output {:?} is there twice", pair[0].path));
    }
    Ok(outputs)
}

fn environment(
    variables: Vec<reapi::command::EnvironmentVariable>,
) -> Result<Vec<(String, String)>, String> {
    let mut names = HashSet::new();
    for variable in &variables {
        let name = &variable.name;
        if name.is_empty() || name.contains(['=', '\0']) || variable.value.contains('\0') {
            return Err(format!("{name:?} cannot be an environment variable"));
        }
        if !names.insert(name) {
            return Err(format!("the environment variable {name:?} is there twice"));
        }
    }
    let variables = variables.into_iter();
    Ok(variables.map(|it| (it.name, it.value)).collect())
}

/// The property of an action that may use the network, by the name that Bazel's toolchains give it.
pub(crate) const NETWORK: (&str, &str) = ("dockerNetwork", "standard");

/// Returns true if the action may use the network.
pub(super) fn has_network(action: &Action, command: &reapi::Command) -> bool {
    let platform = reapi::platform_of(action, command);
    let mut properties = platform.iter().flat_map(|platform| &platform.properties);
    properties.any(|it| (it.name.as_str(), it.value.as_str()) == NETWORK)
}

/// Returns the action's time limit; `most` if it gives none, or zero. One above `most` is refused,
/// as the API says.
pub(super) fn time_limit(action: &Action, most: Duration) -> Result<Duration, RunError> {
    let Some(timeout) = &action.timeout else {
        return Ok(most);
    };
    let seconds = u64::try_from(timeout.seconds);
    let why = match (seconds, u32::try_from(timeout.nanos)) {
        (Ok(0), Ok(0)) => return Ok(most),
        (Ok(seconds), Ok(nanos @ 0..1_000_000_000)) => match Duration::new(seconds, nanos) {
            limit if limit <= most => return Ok(limit),
            limit => format!("it asks for {limit:?}, but the most here is {most:?}"),
        },
        _ => format!("{timeout:?} is not a time limit"),
    };
    Err(RunError::Refused(why))
}
