//! Bazel as a client, with a workspace of its own, and a Bazel server that ends with the test: it
//! stores results in the cache, runs its actions on the farm, and needs a token.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use tempfile::TempDir;

use super::c_program;
use super::farm::{Farm, SLOTS, TOKEN};
use crate::installed;
use crate::program::wait_for;

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
        let mut bazel = installed::command(&self.program, self.folder.path());
        bazel.current_dir(self.workspace());
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

#[test]
fn what_was_built_once_is_not_built_again() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    for protocol in ["http", "grpc"] {
        let farm = Farm::start(&[]);
        let cache = format!("--remote_cache={protocol}://{}", farm.address);
        let options = [&*cache, LOCAL[0], LOCAL[1]];
        bazel.clean();
        let build = bazel.build(c_program::TARGET, &options);
        build.assert_all("local", c_program::ACTIONS);
        assert_eq!(farm.metric("result_hits", None), 0);
        bazel.clean();
        let again = bazel.build(c_program::TARGET, &options);
        again.assert_all("remote cache hit", c_program::ACTIONS);
        assert_eq!(farm.metric("result_hits", None), c_program::ACTIONS);
    }
}

/// When half of the actions have ended, one of the two workers stops during its actions, and is
/// killed. The build never notices.
#[test]
fn a_build_survives_a_worker() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    let farm = Farm::start(&[]);
    let (doomed, _other) = (farm.worker("doomed"), farm.worker("other"));
    farm.wait_for("workers", None, 2);

    let build = bazel.start_on(&farm.address, c_program::TARGET);
    wait_for("half of the actions", || {
        (farm.metric("actions", None) >= c_program::ACTIONS / 2).then_some(())
    });
    doomed.signal(Signal::STOP);
    // It gets actions, and cannot finish any.
    farm.wait_for("worker_running_actions", Some(("worker", "doomed")), SLOTS);
    drop(doomed);
    let build = Build::of(build.wait_with_output());
    build.assert_all("remote", c_program::ACTIONS);
    assert_eq!(farm.metric("workers", None), 1);
    assert!(farm.metric("actions_retried", None) >= SLOTS);
    let succeeded = farm.metric("actions", Some(("outcome", "succeeded")));
    assert_eq!(succeeded, c_program::ACTIONS);
    assert_runs(&bazel);

    bazel.clean();
    let again = bazel.start_on(&farm.address, c_program::TARGET);
    let again = Build::of(again.wait_with_output());
    again.assert_all("remote cache hit", c_program::ACTIONS);
    assert_eq!(farm.metric("result_hits", None), c_program::ACTIONS);
}

/// When half of the actions have ended, the coordinator is killed while the only worker runs some,
/// and starts again with what it had stored: at once; or if its socket is kept, so that nobody is
/// refused, when Bazel asks. The build, with Bazel's own number of retries, never notices.
#[test]
fn a_build_survives_the_coordinator() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    for keep_socket in [false, true] {
        bazel.clean();
        let mut farm = Farm::start(&[]);
        if keep_socket {
            farm.hold_socket();
        }
        let worker = farm.worker("worker");
        farm.wait_for("workers", None, 1);
        let build = bazel.start_on(&farm.address, c_program::TARGET);
        wait_for("half of the actions", || {
            (farm.metric("actions", None) >= c_program::ACTIONS / 2).then_some(())
        });
        // So it runs some until then, and only Bazel asks for the coordinator.
        worker.signal(Signal::STOP);
        farm.wait_for("worker_running_actions", None, SLOTS);
        farm.kill();
        if let Some(socket) = &farm.socket {
            let most = Timespec {
                tv_sec: 60,
                tv_nsec: 0,
            };
            let asked = poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&most));
            assert_eq!(asked, Ok(1), "Bazel does not ask for the coordinator");
        }
        farm.restart();
        worker.signal(Signal::CONT);
        let build = Build::of(build.wait_with_output());
        assert!(build.status.success(), "{}", build.log);
        let ended: usize = build.processes().values().sum();
        assert_eq!(ended, c_program::ACTIONS, "{}", build.log);
        assert_runs(&bazel);
    }
}

/// Runs the program that was built.
fn assert_runs(bazel: &Bazel) {
    let program = bazel.workspace().join(c_program::PROGRAM);
    let ran = Command::new(program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), c_program::printed());
}

/// Writes one action with a unique output.
fn write(bazel: &Bazel, text: &str) {
    let command = format!("echo {text} > $@");
    bazel.write(&format!(
        "genrule(name = \"make\", outs = [\"out\"], cmd = {command:?})\n"
    ));
}

#[test]
fn a_wrong_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let farm = Farm::with_token(folder.path(), &[]);
    for (token, expected) in [(None, 401), (Some("wrong"), 401), (Some(TOKEN), 200)] {
        for path in ["/status", "/metrics"] {
            assert_eq!(farm.get(path, token).0, expected, "{path} with {token:?}");
        }
    }
    let Some(bazel) = Bazel::find() else { return };

    // This version of Bazel asks for the server's capabilities without its headers, so no token
    // helps; newer ones send them. moon is the client that gets in by gRPC.
    write(&bazel, "one");
    let cache = format!("--remote_cache=grpc://{}", farm.address);
    let refused = bazel.build("//:make", &[&cache]);
    assert!(!refused.status.success(), "{}", refused.log);
    let why = "UNAUTHENTICATED: a token is needed, and none or a wrong one was sent";
    assert!(refused.log.contains(why), "{}", refused.log);

    // To an HTTP cache, Bazel sends the password in its URL. If the cache refuses it, Bazel goes on
    // without the cache.
    let local = |password: &str| {
        let cache = format!("--remote_cache=http://bazel:{password}@{}", farm.address);
        bazel.build("//:make", &[&*cache, LOCAL[0], LOCAL[1]])
    };
    write(&bazel, "two");
    let written = farm.metric("blobs_written", None);
    let refused = local("wrong");
    assert!(refused.log.contains("401"), "{}", refused.log);
    assert_eq!(farm.metric("blobs_written", None), written);
    bazel.clean();
    local(TOKEN).assert_all("local", 1);
    assert!(farm.metric("blobs_written", None) > written);
}
