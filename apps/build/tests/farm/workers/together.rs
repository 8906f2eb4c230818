//! A coordinator and workers in one process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use filch_build::digest::Digest;
use filch_build::farm::{FarmConfig, Snapshot};
use filch_build::reapi::BatchReadBlobsRequest;
use filch_build::reapi::content_addressable_storage_client::ContentAddressableStorageClient;
use filch_build::server::Running;
use filch_build::worker::Limits;
use filch_build::worker::remote::{Listen, RunningWorker, WorkerConfig};
use tempfile::TempDir;
use tokio::task::{self, spawn_blocking};

use crate::client::{Client, coordinator, soon};
use crate::leaver::pipe;
use crate::processes;

pub(crate) async fn worker(to: SocketAddr, name: &str, folder: &Path) -> RunningWorker {
    RunningWorker::start(config(to, name, folder))
        .await
        .unwrap()
}

pub(crate) fn config(to: SocketAddr, name: &str, folder: &Path) -> WorkerConfig {
    WorkerConfig {
        coordinator: format!("http://{to}"),
        token: None,
        authority: None,
        instance: String::new(),
        name: name.to_owned(),
        slots: 1,
        folder: folder.to_owned(),
        cache_limit: 1 << 30,
        listen: Some(Listen {
            at: (Ipv4Addr::LOCALHOST, 0).into(),
            address: None,
            certificate: None,
        }),
        limits: Limits::default(),
    }
}

/// Waits until the farm is as required.
pub(crate) async fn until(server: &Running, right: impl Fn(&Snapshot) -> bool) {
    soon(async {
        while !right(&server.farm().snapshot().await) {
            task::yield_now().await;
        }
    })
    .await;
}

pub(crate) async fn read(client: &Client, blob: Digest) -> Vec<u8> {
    let mut content = ContentAddressableStorageClient::new(client.channel.clone());
    let request = BatchReadBlobsRequest {
        digests: vec![blob.into()],
        ..BatchReadBlobsRequest::default()
    };
    let answer = content
        .batch_read_blobs(request)
        .await
        .unwrap()
        .into_inner();
    answer.responses[0].data.clone()
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
    let output = Digest::try_from(result.output_files[0].digest.as_ref().unwrap()).unwrap();
    assert_eq!(output, Digest::of(b"SOME INPUT"));
    assert_eq!(read(&client, output).await, b"SOME INPUT");
    assert!(client.run(action).await.cached_result);
    // The input came once; the messages came with the order.
    assert_eq!(worker.traffic().from_coordinator, 1);
    let large = "head -c 9000000 /dev/zero > out";
    let result = client
        .result(client.script(large, &[], &["out"]).await)
        .await;
    let output = Digest::try_from(result.output_files[0].digest.as_ref().unwrap()).unwrap();
    assert_eq!(output, Digest::of(&vec![0; 9_000_000]));
    assert!(
        server
            .cache()
            .storage()
            .blobs
            .contains(output)
            .await
            .unwrap()
    );
    let fails = client.result(client.script("exit 3", &[], &[]).await).await;
    assert_eq!(fails.exit_code, 3);
    let nothing = client.script("exec /nowhere/program", &[], &[]).await;
    assert_ne!(client.result(nothing).await.exit_code, 0);
    worker.leave();
    soon(worker.ended()).await.unwrap();
    until(&server, |farm| farm.workers.is_empty()).await;
}

#[tokio::test]
async fn a_cache_is_known_again_after_a_restart_of_the_worker() {
    let farm = FarmConfig {
        near_size: 1,
        ..FarmConfig::default()
    };
    let (server, client) = coordinator(farm).await;
    let folder = TempDir::new().unwrap();
    let mut first = worker(server.address(), "first", folder.path()).await;
    let input = client.put("an input").await;
    client
        .result(client.script("true", &[("input", input)], &[]).await)
        .await;
    first.leave();
    soon(first.ended()).await.unwrap();
    let second = worker(server.address(), "second", folder.path()).await;
    let has_it = |farm: &Snapshot| {
        farm.workers
            .iter()
            .any(|it| it.name == "second" && it.blobs == 1)
    };
    until(&server, has_it).await;
    client
        .result(client.script("cat input", &[("input", input)], &[]).await)
        .await;
    assert_eq!(
        (second.traffic().hits, second.traffic().from_coordinator),
        (1, 0)
    );
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
        let action = client.script("cat input", &[("input", input)], &[]).await;
        let result = client.result(action).await;
        assert_eq!(result.exit_code, 0);
        let farm = server.farm().snapshot().await;
        assert_eq!(farm.workers[0].blobs, count.min(4));
    }
}

#[tokio::test]
async fn a_cancelled_action_is_killed_and_its_worker_goes_on() {
    let farm = FarmConfig {
        abandoned_after: std::time::Duration::ZERO,
        ..FarmConfig::default()
    };
    let (server, client) = coordinator(farm).await;
    let folder = TempDir::new().unwrap();
    let _worker = worker(server.address(), "a", folder.path()).await;
    let mut operations = client
        .execute(client.script("sleep 1000", &[], &[]).await)
        .await;
    use filch_build::reapi::execution_stage::Value;
    operations.stage(Value::Executing).await;
    drop(operations);
    let result = client
        .result(client.script("echo next", &[], &[]).await)
        .await;
    assert_eq!(result.stdout_raw, b"next\n");
}

#[tokio::test]
async fn a_coordinator_that_ends_takes_what_its_workers_still_make() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folders = TempDir::new().unwrap();
    let (begun, go) = (pipe(folders.path(), "begun"), pipe(folders.path(), "go"));
    let _worker = worker(server.address(), "a", &folders.path().join("a")).await;
    let input = client.put("an input").await;
    let script = format!("cat input > {begun}; cat {go} > out");
    let action = client.script(&script, &[("input", input)], &["out"]).await;
    let operations = client.execute(action).await;
    assert_eq!(processes::read(&begun).await, "an input");
    let storage = server.cache().storage().clone();
    let ended = tokio::spawn(server.shutdown());
    soon(spawn_blocking(move || std::fs::write(go, "an output")))
        .await
        .unwrap()
        .unwrap();
    let response = operations.end().await;
    assert_eq!(response.status.unwrap_or_default().message, "");
    let result = response.result.unwrap();
    let output = Digest::try_from(result.output_files[0].digest.as_ref().unwrap()).unwrap();
    assert_eq!(storage.blobs.read(output).await.unwrap(), "an output");
    soon(ended).await.unwrap();
}
