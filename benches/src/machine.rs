//! The machine, compiler and commit of a result, without which its figures mean nothing.

use std::fs;
use std::process::Command;
use std::thread;

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) rustc: &'static str,
    /// Followed by `-dirty` if the tree differs from it.
    pub(crate) commit: String,
    /// UTC.
    pub(crate) date: String,
}

/// This machine, now. A field that cannot be determined is `unknown`.
pub(crate) fn describe() -> Machine {
    Machine {
        cpu: cpu_model().unwrap_or_else(unknown),
        cores: thread::available_parallelism().map_or(1, usize::from),
        kernel: output_of("uname", &["-sr"]),
        rustc: env!("FILCH_RUSTC"),
        commit: output_of("git", &["describe", "--always", "--dirty", "--exclude=*"]),
        date: output_of("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
    }
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
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
    "unknown".to_owned()
}
