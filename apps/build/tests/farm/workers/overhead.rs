//! The cost that the farm adds to an action that does nothing: a coordinator and two workers, each
//! a process, compared with the bare process, and with a worker's runner alone.
//!
//! ```sh
//! cargo test --release -p filch-build --test workers -- --ignored --nocapture overhead
//! ```

use std::future;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use filch_build::digest::Digest;
use filch_build::reapi::{self, Action, Directory};
use filch_build::storage::Blobs;
use filch_build::worker::{Limits, Runner};
use prost::Message as _;
use tempfile::TempDir;
use tokio::task::{JoinSet, spawn_blocking};

use crate::client::Client;
use crate::processes::Process;

const ROUNDS: usize = 5;
const ACTIONS: usize = 1000;

/// One round's times, sorted.
struct Times(Vec<Duration>);

impl Times {
    fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the time that so many of a thousand did not exceed.
    fn at(&self, thousandths: usize) -> Duration {
        self.0[(self.0.len() * thousandths / 1000).min(self.0.len() - 1)]
    }
}

/// Runs the action's process as a program would, without a farm.
fn bare(folder: &Path) -> Duration {
    let begin = Instant::now();
    let mut process = Command::new("/bin/true");
    let process = process.env_clear().current_dir(folder);
    assert!(
        process
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .status
            .success()
    );
    begin.elapsed()
}

/// Makes actions that do nothing, all different; `put` stores their messages.
async fn actions<P: Future<Output = Digest>>(
    series: &str,
    put: impl Fn(Vec<u8>) -> P,
) -> Vec<Digest> {
    let root = put(Directory::default().encode_to_vec()).await;
    let mut actions = Vec::new();
    for number in 0..ACTIONS {
        let command = reapi::Command {
            arguments: vec!["/bin/true".into(), format!("{series}, {number}")],
            ..Default::default()
        };
        let command = put(command.encode_to_vec()).await;
        let action = Action {
            command_digest: Some(command.into()),
            input_root_digest: Some(root.into()),
            ..Action::default()
        };
        actions.push(put(action.encode_to_vec()).await);
    }
    actions
}

/// Runs the actions in that many tasks; each runs its share, one after another.
async fn at_a_time<F, T>(count: usize, actions: &[Digest], run: F) -> Times
where
    F: Fn(Digest) -> T + Clone + Send + 'static,
    T: Future<Output = Duration> + Send,
{
    let mut tasks = JoinSet::new();
    for share in actions.chunks(actions.len() / count) {
        let (run, share) = (run.clone(), share.to_vec());
        tasks.spawn(async move {
            let mut times = Vec::new();
            for action in share {
                times.push(run(action).await);
            }
            times
        });
    }
    Times::new(tasks.join_all().await.into_iter().flatten().collect())
}

async fn run_by_farm(client: Client, action: Digest) -> Duration {
    let begin = Instant::now();
    let response = client.run(action).await;
    let took = begin.elapsed();
    assert!(!response.cached_result);
    assert_eq!(response.result.unwrap().exit_code, 0);
    took
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn overhead() {
    let folders = TempDir::new().unwrap();
    let (_coordinator, address) =
        Process::coordinator("127.0.0.1:0", &folders.path().join("storage")).await;
    let _workers =
        ["one", "other"].map(|name| Process::worker(address, name, &folders.path().join(name)));
    let client = Client::new(address).await;
    let by_farm = {
        let client = client.clone();
        move |action| run_by_farm(client.clone(), action)
    };
    let place = folders.path().to_owned();
    let alone = move |_| {
        let place = place.clone();
        async move { spawn_blocking(move || bare(&place)).await.unwrap() }
    };
    // Long enough for both workers to connect.
    let warm = actions("warm", |message| client.put(message)).await;
    at_a_time(2, &warm, by_farm.clone()).await;
    println!("ms: p50, p99, p99.9");
    for round in 0..ROUNDS {
        for count in [1, 2, 4] {
            let processes = at_a_time(count, &warm, alone.clone()).await;
            let series = format!("round {round}, {count} at a time");
            let asked = actions(&series, |message| client.put(message)).await;
            let farm = at_a_time(count, &asked, by_farm.clone()).await;
            show(&format!("{count} at a time, bare"), &processes);
            show(&format!("{count} at a time, farm"), &farm);
            let more = farm.at(500).saturating_sub(processes.at(500));
            println!("{count} at a time, the farm's p50 is {more:?} more");
        }
        let blobs = Blobs::in_memory();
        let put = |message: Vec<u8>| async {
            let digest = Digest::of(&message);
            blobs.write(digest, message.into()).await.unwrap();
            digest
        };
        let runner = Runner::new("here", folders.path().join("here"), Limits::default());
        let mut times = Vec::new();
        for action in actions("here", put).await {
            let begin = Instant::now();
            runner.run(action, &blobs, future::pending()).await.unwrap();
            times.push(begin.elapsed());
        }
        show("the runner alone", &Times::new(times));
    }
}

fn show(what: &str, times: &Times) {
    let [half, most, nearly_all] = [500, 990, 999].map(|at| times.at(at).as_secs_f64() * 1e3);
    println!("{what}: {half:.3} {most:.3} {nearly_all:.3}");
}
