//! Coordinators and workers as processes that are killed.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use filch_build::farm::FarmConfig;
use filch_build::reapi::execution_stage::Value;
use filch_build::server::{Config, Server, Tokens};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::together::until;
use crate::client::{Client, coordinator, soon};
use crate::leaver::pipe;
use crate::program::{Program, filch_build, file};

/// Starts a worker with one slot, which serves its blobs.
pub(crate) fn worker(to: SocketAddr, name: &str, folder: &Path) -> Program {
    let options = ["--slots", "1", "--name", name, "--listen", "127.0.0.1:0"];
    Program::worker(&format!("http://{to}"), folder, &options, &[])
}

/// Starts a coordinator with its storage in that folder; returns its address as well.
pub(crate) async fn separate(listen: &str, folder: &Path) -> (Program, SocketAddr) {
    let mut command = filch_build(&["serve", "--listen", listen, "--storage"]);
    command.arg(format!("disk:{}", folder.display()));
    let started = spawn_blocking(|| Program::coordinator(|_| command));
    soon(started).await.unwrap()
}

/// Reads a named pipe to its end.
pub(crate) async fn read(path: &str) -> String {
    let path = path.to_owned();
    let read = spawn_blocking(move || fs::read_to_string(path).unwrap());
    soon(read).await.unwrap()
}

#[tokio::test]
async fn a_killed_workers_action_ends_on_the_other_one() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folders = TempDir::new().unwrap();
    let (begun, first) = (pipe(folders.path(), "begun"), pipe(folders.path(), "first"));
    // Also for reading, so that opening does not wait for a reader.
    let turn = OpenOptions::new().read(true).write(true).open(&first);
    let mut turn = turn.unwrap();
    turn.write_all(b"1").unwrap();
    let one = worker(server.address(), "one", &folders.path().join("1"));
    let other = worker(server.address(), "other", &folders.path().join("2"));
    until(&server, |farm| farm.workers.len() == 2).await;
    let is_first = format!("[ \"$(dd if={first} iflag=nonblock bs=1 count=1)\" ]");
    let script = format!("if {is_first}; then echo > {begun}; sleep 1000; fi; echo second");
    let operations = client.begin(&script).await;
    read(&begun).await;
    let snapshot = server.farm().snapshot();
    let mut workers = snapshot.workers.iter();
    let runs = workers.find(|worker| !worker.running.is_empty());
    let (killed, _left) = match runs.unwrap().name.as_str() {
        "one" => (one, other),
        _ => (other, one),
    };
    killed.signal(Signal::KILL);
    let result = operations.result().await;
    assert_eq!(result.stdout_raw, b"second\n");
    let snapshot = server.farm().snapshot();
    let actions = snapshot.actions;
    assert_eq!((actions.succeeded, actions.retried), (1, 1));
    assert_eq!(snapshot.workers.len(), 1);
}

#[tokio::test]
async fn a_coordinator_that_is_killed_comes_back_with_its_cache_and_its_workers() {
    let folders = TempDir::new().unwrap();
    let storage = folders.path().join("storage");
    let (coordinator, address) = separate("127.0.0.1:0", &storage).await;
    let _worker = worker(address, "one", &folders.path().join("1"));
    let client = Client::new(address).await;
    let done = client.script("echo done", &[], &[]).await;
    assert_eq!(client.result(done).await.stdout_raw, b"done\n");
    let turn = pipe(folders.path(), "turn");
    let mut operations = client.begin(&format!("cat {turn}")).await;
    let name = operations.stage(Value::Executing).await.name;
    coordinator.signal(Signal::KILL);
    coordinator.wait().await;
    assert!(soon(operations.stream.message()).await.is_err());
    let (_coordinator, again) = separate(&address.to_string(), &storage).await;
    assert_eq!(again, address);
    let client = Client::new(address).await;
    let mut operations = client.wait(&name).await.unwrap();
    assert!(client.run(done).await.cached_result);
    // The worker comes back by itself, with its slot free.
    operations.stage(Value::Executing).await;
    let write = spawn_blocking(move || fs::write(turn, "turn\n"));
    soon(write).await.unwrap().unwrap();
    assert_eq!(operations.result().await.stdout_raw, b"turn\n");
}

#[tokio::test]
async fn a_worker_with_a_wrong_token_ends_and_says_so() {
    let folders = TempDir::new().unwrap();
    let config = Config {
        tokens: Some(Tokens::new("open", None, None)),
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let to = format!("http://{}", server.address());
    let start = |name: &str, token: &str| {
        let token = file(folders.path(), token, &format!("{token}\n"));
        let folder = folders.path().join(name);
        Program::worker(&to, &folder, &["--token-file", &token], &[])
    };
    let (status, said) = start("1", "sesame").wait().await;
    assert!(!status.success());
    let why = "refuses this worker: a token is needed";
    assert!(said.contains(why), "{said}");
    let _worker = start("2", "open");
    until(&server, |farm| farm.workers.len() == 1).await;
}
