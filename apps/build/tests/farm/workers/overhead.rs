//! The cost that the farm adds to an action that does nothing: a coordinator and two workers, each
//! a process, compared with the bare process, and with a worker's runner alone.
//!
//! ```sh
//! cargo test --profile measured -p filch-build --test farm -- --ignored --nocapture overhead
//! ```

use std::fs;
use std::future;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use filch_build::digest::Digest;
use filch_build::reapi::{self, Action, Directory};
use filch_build::storage::Blobs;
use filch_build::worker::{Limits, Runner, SandboxOptions};
use prost::Message as _;
use tempfile::TempDir;
use tokio::task::{JoinSet, spawn_blocking};

use super::processes;
use crate::client::Client;

const ROUNDS: usize = 5;
const ACTIONS: usize = 1000;

/// Runs the action's process as a program would, without a farm.
async fn bare(folder: PathBuf) -> Duration {
    let run = move || {
        let begin = Instant::now();
        let mut process = Command::new("/bin/true");
        let process = process.env_clear().current_dir(folder);
        let output = process.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        begin.elapsed()
    };
    spawn_blocking(run).await.unwrap()
}

async fn by_farm(client: Client, action: Digest) -> Duration {
    let begin = Instant::now();
    let response = client.run(action).await;
    let took = begin.elapsed();
    assert!(!response.cached_result);
    assert_eq!(response.result.unwrap().exit_code, 0);
    took
}

async fn by_runner(runner: Runner, blobs: Blobs, action: Digest) -> Duration {
    let begin = Instant::now();
    let result = runner.run(action, &blobs, future::pending()).await;
    let took = begin.elapsed();
    assert_eq!(result.unwrap().exit_code, 0);
    took
}

/// Makes a command that does nothing, unlike any other.
fn command(series: &str, number: usize) -> reapi::Command {
    reapi::Command {
        arguments: vec!["/bin/true".into(), format!("{series}, {number}")],
        ..Default::default()
    }
}

async fn actions(client: &Client, series: &str) -> Vec<Digest> {
    let mut actions = Vec::new();
    for number in 0..ACTIONS {
        let command = command(series, number);
        actions.push(client.action(&command, &[], Action::default()).await);
    }
    actions
}

async fn put(blobs: &Blobs, message: Vec<u8>) -> Digest {
    let digest = Digest::of(&message);
    blobs.write(digest, message.into()).await.unwrap();
    digest
}

/// Runs these in that many tasks, each its share, one after another; returns the times, sorted.
async fn at_a_time<F>(count: usize, runs: impl Iterator<Item = F>) -> Vec<Duration>
where
    F: Future<Output = Duration> + Send + 'static,
{
    let mut shares: Vec<_> = (0..count).map(|_| Vec::new()).collect();
    runs.enumerate()
        .for_each(|(number, run)| shares[number % count].push(run));
    let mut tasks = JoinSet::new();
    for share in shares {
        tasks.spawn(async move {
            let mut times = Vec::new();
            for run in share {
                times.push(run.await);
            }
            times
        });
    }
    let mut times = tasks.join_all().await.concat();
    times.sort_unstable();
    times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn overhead() {
    let folders = TempDir::new().unwrap();
    let folder = |name| folders.path().join(name);
    let (_coordinator, address) = processes::separate("127.0.0.1:0", &folder("storage")).await;
    let _workers = ["one", "other"].map(|name| processes::worker(address, name, &folder(name)));
    let client = Client::new(address).await;
    let farm = |action| by_farm(client.clone(), action);
    // Long enough for both workers to connect.
    let warm = actions(&client, "warm").await;
    at_a_time(2, warm.into_iter().map(farm)).await;
    println!("ms: p50, p99, p99.9");
    for round in 0..ROUNDS {
        for count in [1, 2, 4] {
            let runs = (0..ACTIONS).map(|_| bare(folders.path().to_owned()));
            let processes = at_a_time(count, runs).await;
            let asked = actions(&client, &format!("round {round}, {count} at a time")).await;
            let farm = at_a_time(count, asked.into_iter().map(farm)).await;
            show(&format!("{count} at a time, bare"), &processes);
            show(&format!("{count} at a time, farm"), &farm);
            let more = farm[ACTIONS / 2].saturating_sub(processes[ACTIONS / 2]);
            println!("{count} at a time, the farm's p50 is {more:?} more");
        }
        let blobs = Blobs::in_memory();
        let options = SandboxOptions {
            launcher: Some(env!("CARGO_BIN_EXE_filch-sandbox").into()),
            ..SandboxOptions::default()
        };
        fs::create_dir_all(folder("here")).unwrap();
        let sandbox = options.open(&folder("here"), &[]).await.unwrap();
        let runner = |sandbox| Runner::new("here", folder("here"), Limits::default(), sandbox);
        let runners = [runner(None), runner(sandbox)];
        let root = put(&blobs, Directory::default().encode_to_vec()).await;
        let mut runs = [Vec::new(), Vec::new()];
        for number in 0..2 * ACTIONS {
            let command = put(&blobs, command("here", number).encode_to_vec()).await;
            let action = Action {
                command_digest: Some(command.into()),
                input_root_digest: Some(root.into()),
                ..Action::default()
            };
            let action = put(&blobs, action.encode_to_vec()).await;
            // In turn, so that both have the same neighbours.
            let turn = number % 2;
            let run = by_runner(runners[turn].clone(), blobs.clone(), action).await;
            runs[turn].push(run);
        }
        runs.iter_mut().for_each(|times| times.sort_unstable());
        show("the runner alone, no sandbox", &runs[0]);
        show("the runner alone, sandbox", &runs[1]);
    }
}

fn show(what: &str, times: &[Duration]) {
    let at = |thousandths: usize| times[ACTIONS * thousandths / 1000].as_secs_f64() * 1e3;
    println!("{what}: {:.3} {:.3} {:.3}", at(500), at(990), at(999));
}
