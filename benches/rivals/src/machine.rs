//! The machine, compiler and commit of a result, without which its figures mean nothing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use filch_report::published;
use filch_report::run::Machine;

/// Describes this machine, now.
pub(crate) fn describe() -> Machine {
    Machine {
        cpu: cpu_model().unwrap_or_else(unknown),
        cores: thread::available_parallelism().map_or(1, usize::from),
        kernel: output_of("uname", &["-sr"]),
        rustc: env!("FILCH_RUSTC").to_owned(),
        commit: commit(),
        date: output_of("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
        load: load().unwrap_or_else(unknown),
    }
}

/// The commit of a program that was made to be carried; another one runs in its repository.
const CARRIED: Option<&str> = option_env!("FILCH_COMMIT");

/// Returns whether the repository may be on another machine.
pub(crate) fn is_carried() -> bool {
    CARRIED.is_some()
}

/// The folder in which a run is stored: the current one, where there is no repository.
pub(crate) fn results() -> PathBuf {
    match is_carried() {
        true => PathBuf::new(),
        false => published::runs(),
    }
}

fn commit() -> String {
    match CARRIED {
        Some(commit) => commit.to_owned(),
        None => output_of("git", &["describe", "--always", "--dirty", "--exclude=*"]),
    }
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns the load of the minute before.
fn load() -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split(' ').next()?.to_owned())
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => unknown(),
    }
}

fn unknown() -> String {
    Machine::UNKNOWN.to_owned()
}
