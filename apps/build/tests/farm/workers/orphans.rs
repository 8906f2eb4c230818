//! Actions whose processes leave their process group, on workers that are processes.

use std::fs;

use bazel_remote_apis::google::protobuf::Duration;
use filch_build::digest::Digest;
use filch_build::farm::{FarmConfig, Snapshot};
use filch_build::reapi::Action;
use filch_build::server::Running;
use rustix::process::Signal;
use tempfile::TempDir;
use tonic::Code;

use super::processes::read;
use super::together::until;
use crate::client::{Client, coordinator, sh};
use crate::leaver::{Leaver, pipe};
use crate::program::Program;

/// A farm of one worker, and a process that leaves.
struct Bench {
    server: Running,
    client: Client,
    worker: Program,
    folders: TempDir,
    leaver: Leaver,
}

impl Bench {
    async fn new(slots: &str) -> Self {
        let (server, client) = coordinator(FarmConfig::default()).await;
        let folders = TempDir::new().unwrap();
        let to = format!("http://{}", server.address());
        let options = ["--slots", slots, "--name", "one"];
        let folder = folders.path().join("worker");
        let worker = Program::worker(&to, &folder, &options, &[]);
        Self {
            leaver: Leaver::new(folders.path()),
            server,
            client,
            worker,
            folders,
        }
    }

    fn pipe(&self, name: &str) -> String {
        pipe(self.folders.path(), name)
    }

    /// Stores this script as an action with that time limit.
    async fn limited(&self, script: &str, seconds: i64) -> Digest {
        let action = Action {
            timeout: Some(Duration { seconds, nanos: 0 }),
            ..Action::default()
        };
        self.client.action(&sh(script), &[], action).await
    }

    async fn stdout(&self, action: Digest) -> String {
        let result = self.client.result(action).await;
        assert_eq!(result.exit_code, 0);
        String::from_utf8(result.stdout_raw).unwrap()
    }
}

#[tokio::test]
async fn what_leaves_its_group_ends_with_its_action() {
    let mut bench = Bench::new("1").await;
    let leaver = &bench.leaver;
    let (hold, sleep, wait) = (leaver.hold(), leaver.sleep(), leaver.wait());
    for (way, script) in [
        ("by its session", format!("setsid sh -c '{sleep}' &")),
        ("as a daemon", format!("(setsid sh -c '{sleep}' &)")),
        (
            "as a child of one that has left",
            format!("setsid sh -c 'setsid sh -c \"{sleep}\" & sleep 1000' &"),
        ),
    ] {
        let script = format!("{hold}{script}{wait}echo {way}");
        let action = bench.client.script(&script, &[], &[]).await;
        assert_eq!(bench.stdout(action).await.trim(), way);
        assert!(!bench.leaver.lives(), "it has left {way}, and lives");
    }
}

#[tokio::test]
async fn a_time_limit_is_one_for_what_leaves_its_group_too() {
    let mut bench = Bench::new("1").await;
    let script = format!("{}sleep 1000", bench.leaver.script());
    let action = bench.limited(&script, 1).await;
    let operations = bench.client.execute(action).await;
    operations.failure(Code::DeadlineExceeded).await;
    assert!(!bench.leaver.lives());
}

#[tokio::test]
async fn what_starts_itself_anew_again_and_again_ends_with_its_action() {
    let mut bench = Bench::new("1").await;
    let (hold, steps) = (bench.leaver.hold(), bench.pipe("steps"));
    let chain = bench.client.put("echo >&8; setsid sh chain &").await;
    let script = format!(
        "{hold}exec 8<> {steps}; setsid sh chain &\n\
        for step in 1 2 3 4 5; do read line <&8; done; exec 8>&-"
    );
    let files = [("chain", chain)];
    let action = bench.client.script(&script, &files, &[]).await;
    assert_eq!(bench.stdout(action).await, "");
    assert!(!bench.leaver.lives());
}

#[tokio::test]
async fn an_orphan_that_ends_while_its_action_runs_is_reaped() {
    let bench = Bench::new("1").await;
    let script = "number=$( (sh -c 'echo $$' &) )\n\
        while [ -e /proc/$number ]; do :; done; echo reaped";
    let action = bench.limited(script, 20).await;
    assert_eq!(bench.stdout(action).await, "reaped\n");
}

#[tokio::test]
async fn a_worker_that_is_asked_to_end_ends_what_it_runs_and_leaves_none_behind() {
    let mut bench = Bench::new("1").await;
    let [ready, go] = ["ready", "go"].map(|name| bench.pipe(name));
    let leaves = bench.leaver.script();
    let script = format!("{leaves}echo > {ready}; read line < {go}");
    let operations = bench.client.begin(&script).await;
    read(&ready).await;
    bench.worker.signal(Signal::TERM);
    let leaving = |farm: &Snapshot| farm.workers.iter().any(|worker| worker.leaving);
    until(&bench.server, leaving).await;
    // Nothing new.
    let mut waits = bench.client.begin("true").await;
    assert!(!waits.next().await.done);
    assert!(bench.leaver.lives());
    fs::write(go, "go on\n").unwrap();
    operations.ends_with(0).await;
    let (status, said) = bench.worker.wait().await;
    assert!(status.success(), "{said}");
    assert_eq!(bench.server.farm().snapshot().waiting, 1);
    assert!(!bench.leaver.lives());
}
