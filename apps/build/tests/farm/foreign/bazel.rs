//! Bazel as a client: a workspace of its own, and a Bazel server that ends with the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use tempfile::TempDir;

use crate::installed;

/// The options by which Bazel runs all actions itself.
pub(crate) const LOCAL: [&str; 2] = ["--spawn_strategy=local", "--genrule_strategy=local"];

pub(crate) struct Bazel {
    program: PathBuf,
    /// The workspace, and what Bazel keeps about it.
    folder: TempDir,
}

/// The end of a build.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) status: ExitStatus,
    /// The output of Bazel.
    pub(crate) log: String,
}

impl Bazel {
    /// Returns `None`, and prints a line on the terminal, if Bazel is not installed.
    pub(crate) fn find() -> Option<Self> {
        let program = installed::bazel()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bazel = Self { program, folder };
        std::fs::create_dir(bazel.workspace()).expect("a folder in a new one");
        Some(bazel)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Writes the only rules of the workspace.
    pub(crate) fn write(&self, rules: &str) {
        std::fs::write(self.workspace().join("BUILD"), rules).unwrap();
        std::fs::write(self.workspace().join("WORKSPACE"), "").unwrap();
    }

    /// Starts a build whose actions all run on the farm at that address.
    pub(crate) fn start_on(&self, farm: &str, target: &str) -> std::process::Child {
        let executor = format!("--remote_executor=grpc://{farm}");
        let strategies = ["--spawn_strategy=remote", "--genrule_strategy=remote"];
        self.start(target, &[&*executor, strategies[0], strategies[1]])
    }

    /// Builds a target with these options.
    pub(crate) fn build(&self, target: &str, options: &[&str]) -> Build {
        Build::of(self.start(target, options).wait_with_output())
    }

    /// Starts a build, so that the test can act during it.
    pub(crate) fn start(&self, target: &str, options: &[&str]) -> std::process::Child {
        let mut command = self.command("build");
        command.args([
            "--color=no",
            "--curses=no",
            "--jobs=16",
            "--remote_timeout=20",
        ]);
        command.args(options).arg(target);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("Bazel starts")
    }

    /// Forgets what was built here.
    pub(crate) fn clean(&self) {
        let cleaned = Build::of(self.command("clean").output());
        assert!(cleaned.status.success(), "{}", cleaned.log);
    }

    fn command(&self, command: &str) -> Command {
        let mut bazel = Command::new(&self.program);
        bazel.current_dir(self.workspace());
        // Nothing of the test's own environment is passed.
        bazel
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        bazel.env("HOME", self.folder.path());
        bazel.args(["--nosystem_rc", "--nohome_rc", "--noworkspace_rc"]);
        bazel.arg("--max_idle_secs=60");
        bazel.arg(option("output_base", &self.folder.path().join("base")));
        bazel.arg(option("install_base", &installed::folder().join("bazel")));
        bazel.arg(command);
        bazel
    }
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

impl Drop for Bazel {
    fn drop(&mut self) {
        let _ = self.command("shutdown").output();
    }
}

impl Build {
    pub(crate) fn of(output: std::io::Result<Output>) -> Self {
        let output = output.expect("Bazel ends");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = output.status;
        Self { status, log }
    }

    /// Counts the actions that ran, or came, in each way, from Bazel's own summary: `INFO: 200
    /// processes: 80 remote cache hit, 120 remote.`
    pub(crate) fn processes(&self) -> BTreeMap<String, usize> {
        let summary = self.log.lines().rev().find_map(|line| {
            let (count, kinds) = line.strip_prefix("INFO: ")?.split_once(": ")?;
            let of_processes = count.ends_with(" process") || count.ends_with(" processes");
            of_processes.then(|| kinds.trim_end_matches('.'))
        });
        let kinds = summary.into_iter().flat_map(|kinds| kinds.split(", "));
        let counts = kinds.map(|kind| {
            let (count, kind) = kind.split_once(' ').expect("a count and its kind");
            (kind.to_owned(), count.parse().expect("a count"))
        });
        counts.collect()
    }

    /// Checks that it succeeded, with all of its actions in this one way.
    #[track_caller]
    pub(crate) fn assert_all(&self, kind: &str, count: usize) {
        assert!(self.status.success(), "{}", self.log);
        let all = [(kind.to_owned(), count)].into();
        assert_eq!(self.processes(), all, "{}", self.log);
    }
}
