//! A coordinator and workers in one process.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use filch_build::digest::Digest;
use filch_build::farm::{FarmConfig, Snapshot};
use filch_build::reapi::execution_stage::Value;
use filch_build::server::Running;
use filch_build::worker::remote::{Listen, RunningWorker, WorkerConfig};
use filch_build::worker::{Limits, SandboxOptions};
use tempfile::TempDir;
use tokio::task::{self, spawn_blocking};

use super::processes;
use crate::client::{coordinator, output, soon};
use crate::leaver::pipe;
use crate::server::start;

pub(crate) async fn worker(to: SocketAddr, name: &str, folder: &Path) -> RunningWorker {
    let started = RunningWorker::start(config(to, name, folder)).await;
    started.unwrap()
}

pub(crate) fn config(to: SocketAddr, name: &str, folder: &Path) -> WorkerConfig {
    WorkerConfig {
        coordinator: format!("http://{to}"),
        token: None,
        authority: None,
        instance: String::new(),
        name: name.to_owned(),
        slots: 1,
        properties: Vec::new(),
        cpus: 1,
        memory: None,
        folder: folder.to_owned(),
        cache_limit: 1 << 30,
        disk_reserve: 1,
        listen: Some(Listen {
            at: (Ipv4Addr::LOCALHOST, 0).into(),
            address: None,
        }),
        certificate: None,
        limits: Limits::default(),
        sandbox: SandboxOptions {
            launcher: Some(env!("CARGO_BIN_EXE_filch-sandbox").into()),
            ..SandboxOptions::default()
        },
    }
}

/// Waits until the farm is as required.
pub(crate) async fn until(server: &Running, right: impl Fn(&Snapshot) -> bool) {
    soon(async {
        while !right(&server.farm().snapshot()) {
            task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn actions_run_and_their_outputs_are_in_the_storage() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folder = TempDir::new().unwrap();
    let mut worker = worker(server.address(), "a", folder.path()).await;
    let input = client.put("some input").await;
    let script = "tr a-z A-Z < input > out; echo to stdout; echo to stderr >&2";
    let action = client.script(script, &[("input", input)], &["out"]).await;
    let result = client.result(action).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout_raw, b"to stdout\n");
    assert_eq!(result.stderr_raw, b"to stderr\n");
    assert_eq!(result.output_files[0].path, "out");
    assert_eq!(output(&result), Digest::of(b"SOME INPUT"));
    assert_eq!(client.read(output(&result)).await.unwrap(), b"SOME INPUT");
    assert!(client.run(action).await.cached_result);
    // The input came once; the messages came with the order.
    assert_eq!(worker.traffic().from_coordinator, 1);
    let large = client.script("head -c 9000000 /dev/zero > out", &[], &["out"]);
    let output = output(&client.result(large.await).await);
    assert_eq!(output, Digest::of(&vec![0; 9_000_000]));
    assert!(client.has(output).await);
    assert_eq!(client.sh("exit 3", &[]).await.exit_code, 3);
    assert_ne!(client.sh("exec /nowhere/program", &[]).await.exit_code, 0);
    worker.leave();
    soon(worker.ended()).await.unwrap();
    until(&server, |farm| farm.workers.is_empty()).await;
}

#[tokio::test]
async fn a_worker_announces_its_machine() {
    let (server, _client) = coordinator(FarmConfig::default()).await;
    let folder = TempDir::new().unwrap();
    let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let config = WorkerConfig {
        properties: vec![property("ISA", "mine"), property("libc", "musl")],
        slots: 3,
        cpus: 2,
        ..config(server.address(), "a", folder.path())
    };
    let _worker = RunningWorker::start(config).await.unwrap();
    until(&server, |farm| farm.workers.len() == 1).await;
    let has = server.farm().snapshot().workers[0].platform.clone();
    let os = property("OSFamily", std::env::consts::OS);
    let all = [os, property("ISA", "mine"), property("libc", "musl")];
    assert_eq!(has.properties, all.into());
    assert_eq!(has.cpus, 3000, "one for each slot");
    let known = (1 << 20..1 << 60).contains(&has.memory);
    assert_eq!(known, cfg!(target_os = "linux"), "{has}");
}

#[tokio::test]
async fn an_action_is_complete_when_its_outputs_are_in_the_storage() {
    let server = start().await;
    let folder = TempDir::new().unwrap();
    let _worker = worker(server.running.address(), "a", folder.path()).await;
    let script = "head -c 50000000 /dev/zero > out";
    let action = server.script(script, &[], &["out"]).await;
    let result = server.result(action).await;
    let file = fs::metadata(server.file(output(&result))).unwrap();
    let written = file.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
    let metadata = result.execution_metadata.unwrap();
    for time in [
        metadata.output_upload_completed_timestamp,
        metadata.worker_completed_timestamp,
    ] {
        let time = time.map(|time| Duration::new(time.seconds as u64, time.nanos as u32));
        assert!(time >= Some(written), "{time:?} {written:?}");
    }
}

#[tokio::test]
async fn a_cache_is_known_again_after_a_restart_of_the_worker() {
    let (server, client) = coordinator(FarmConfig {
        near_size: 1,
        ..FarmConfig::default()
    })
    .await;
    let folder = TempDir::new().unwrap();
    let mut first = worker(server.address(), "first", folder.path()).await;
    let input = [("input", client.put("an input").await)];
    client.sh("true", &input).await;
    first.leave();
    soon(first.ended()).await.unwrap();
    let second = worker(server.address(), "second", folder.path()).await;
    until(&server, |farm| {
        let mut workers = farm.workers.iter();
        workers.any(|it| it.name == "second" && it.blobs == 1)
    })
    .await;
    client.sh("cat input", &input).await;
    let traffic = second.traffic();
    assert_eq!((traffic.hits, traffic.from_coordinator), (1, 0));
}

#[tokio::test]
async fn what_a_cache_forgets_the_coordinator_forgets_before_the_result() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folder = TempDir::new().unwrap();
    // A file takes a whole block of the disk.
    let four_files = 4 * 4096;
    let config = WorkerConfig {
        cache_limit: four_files,
        ..config(server.address(), "a", folder.path())
    };
    let _worker = RunningWorker::start(config).await.unwrap();
    for count in 1..=6 {
        let input = client.put(format!("input {count}")).await;
        let result = client.sh("cat input", &[("input", input)]).await;
        assert_eq!(result.exit_code, 0);
        let farm = server.farm().snapshot();
        assert_eq!(farm.workers[0].blobs, count.min(4));
    }
}

#[tokio::test]
async fn a_cancelled_action_is_killed_and_its_worker_goes_on() {
    let (server, client) = coordinator(FarmConfig {
        abandoned_after: Duration::ZERO,
        ..FarmConfig::default()
    })
    .await;
    let folder = TempDir::new().unwrap();
    let _worker = worker(server.address(), "a", folder.path()).await;
    let mut operations = client.begin("sleep 1000").await;
    operations.stage(Value::Executing).await;
    drop(operations);
    let result = client.sh("echo next", &[]).await;
    assert_eq!(result.stdout_raw, b"next\n");
}

#[tokio::test]
async fn a_coordinator_that_ends_takes_what_its_workers_still_make() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folders = TempDir::new().unwrap();
    let (begun, go) = (pipe(folders.path(), "begun"), pipe(folders.path(), "go"));
    let mut config = config(server.address(), "a", &folders.path().join("a"));
    config.sandbox.paths.push(folders.path().to_owned());
    let _worker = RunningWorker::start(config).await.unwrap();
    let input = client.put("an input").await;
    let script = format!("cat input > {begun}; cat {go} > out");
    let action = client.script(&script, &[("input", input)], &["out"]).await;
    let operations = client.execute(action).await;
    assert_eq!(processes::read(&begun).await, "an input");
    let storage = server.cache().storage().clone();
    let ended = tokio::spawn(server.shutdown());
    let wrote = spawn_blocking(move || fs::write(go, "an output"));
    soon(wrote).await.unwrap().unwrap();
    let output = output(&operations.result().await);
    assert_eq!(storage.blobs.read(output).await.unwrap(), "an output");
    soon(ended).await.unwrap();
}
