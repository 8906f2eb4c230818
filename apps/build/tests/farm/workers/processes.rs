//! Coordinators and workers as processes that are killed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use filch_build::farm::FarmConfig;
use filch_build::reapi::execution_stage::Value;
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use tonic::Code;

use crate::client::{Client, coordinator, soon};
use crate::leaver::pipe;
use crate::together::until;

/// A process that is killed when it is dropped.
pub(crate) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_filch-build"));
        command.args(arguments).stdin(Stdio::null());
        command.envs(variables.iter().copied());
        Self(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    }

    pub(crate) fn worker(to: SocketAddr, name: &str, folder: &Path) -> Self {
        let options = ["--slots", "1", "--name", name, "--listen", "127.0.0.1:0"];
        Self::worker_with(&format!("http://{to}"), folder, &options, &[])
    }

    pub(crate) fn worker_with(
        to: &str,
        folder: &Path,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let folder = folder.to_str().unwrap();
        let arguments = ["worker", "--coordinator", to, "--cache", folder];
        Self::start(&[&arguments, options].concat(), variables)
    }

    /// Starts a coordinator; returns its address as well.
    pub(crate) async fn coordinator(listen: &str, folder: &Path) -> (Self, SocketAddr) {
        let storage = format!("disk:{}", folder.display());
        let mut process = Self::start(&["serve", "--listen", listen, "--storage", &storage], &[]);
        let out = process.0.stdout.take().unwrap();
        let line = soon(spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(out).read_line(&mut line).unwrap();
            line
        }));
        let line = line.await.unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        (process, address)
    }

    pub(crate) async fn wait(mut self) -> (std::process::ExitStatus, String) {
        soon(spawn_blocking(move || {
            let mut said = String::new();
            self.stderr().read_to_string(&mut said).unwrap();
            (self.0.wait().unwrap(), said)
        }))
        .await
        .unwrap()
    }

    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.0.stderr.take().unwrap()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }
}

/// Writes a file; returns its path.
pub(crate) fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Reads a named pipe to its end.
pub(crate) async fn read(path: &str) -> String {
    let path = path.to_owned();
    soon(spawn_blocking(move || fs::read_to_string(path).unwrap()))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_killed_workers_action_ends_on_the_other_one() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folders = TempDir::new().unwrap();
    let (begun, mark) = (pipe(folders.path(), "begun"), folders.path().join("mark"));
    let one = Process::worker(server.address(), "one", &folders.path().join("1"));
    let other = Process::worker(server.address(), "other", &folders.path().join("2"));
    until(&server, |farm| farm.workers.len() == 2).await;
    let mark = mark.display();
    let script = format!("if mkdir {mark}; then echo > {begun}; sleep 1000; fi; echo second");
    let action = client.script(&script, &[], &[]).await;
    let operations = client.execute(action).await;
    read(&begun).await;
    let snapshot = server.farm().snapshot().await;
    let runs = snapshot
        .workers
        .iter()
        .find(|worker| !worker.running.is_empty());
    let (killed, left) = match runs.unwrap().name.as_str() {
        "one" => (one, other),
        _ => (other, one),
    };
    killed.signal("-KILL");
    let result = operations.end().await.result.unwrap();
    assert_eq!(result.stdout_raw, b"second\n");
    let snapshot = server.farm().snapshot().await;
    assert_eq!(
        (snapshot.actions.succeeded, snapshot.actions.retried),
        (1, 1)
    );
    assert_eq!(snapshot.workers.len(), 1);
    drop(left);
}

#[tokio::test]
async fn a_worker_that_is_asked_to_end_ends_what_it_runs() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let folders = TempDir::new().unwrap();
    let (begun, go) = (pipe(folders.path(), "begun"), pipe(folders.path(), "go"));
    let worker = Process::worker(server.address(), "one", &folders.path().join("1"));
    let script = format!("echo > {begun}; cat {go}");
    let operations = client.execute(client.script(&script, &[], &[]).await).await;
    read(&begun).await;
    worker.signal("-TERM");
    until(&server, |farm| {
        farm.workers.iter().any(|worker| worker.leaving)
    })
    .await;
    // Nothing new.
    let mut waits = client.execute(client.script("true", &[], &[]).await).await;
    assert!(!waits.next().await.done);
    soon(spawn_blocking(move || fs::write(go, "go on")))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(operations.end().await.result.unwrap().stdout_raw, b"go on");
    let (status, said) = worker.wait().await;
    assert!(status.success(), "{said}");
    assert_eq!(server.farm().snapshot().await.waiting, 1);
}

#[tokio::test]
async fn a_coordinator_that_is_killed_comes_back_with_its_cache_and_its_workers() {
    let folders = TempDir::new().unwrap();
    let storage = folders.path().join("storage");
    let (coordinator, address) = Process::coordinator("127.0.0.1:0", &storage).await;
    let _worker = Process::worker(address, "one", &folders.path().join("1"));
    let client = Client::new(address).await;
    let done = client.script("echo done", &[], &[]).await;
    assert_eq!(client.result(done).await.stdout_raw, b"done\n");
    let lost = client.script("sleep 1000", &[], &[]).await;
    let mut operations = client.execute(lost).await;
    let name = operations.stage(Value::Executing).await.name;
    coordinator.signal("-KILL");
    coordinator.wait().await;
    assert!(soon(operations.stream.message()).await.is_err());
    let (_coordinator, again) = Process::coordinator(&address.to_string(), &storage).await;
    assert_eq!(again, address);
    let client = Client::new(address).await;
    assert_eq!(client.wait(&name).await.unwrap_err().code(), Code::NotFound);
    assert!(client.run(done).await.cached_result);
    // The worker comes back by itself, with its slot free.
    let next = client.script("echo next", &[], &[]).await;
    assert_eq!(client.result(next).await.stdout_raw, b"next\n");
}

#[tokio::test]
async fn a_worker_with_a_wrong_token_ends_and_says_so() {
    let folders = TempDir::new().unwrap();
    let file = |name: &str, text: &str| file(folders.path(), name, text);
    let (right, wrong) = (file("right", "open\n"), file("wrong", "sesame\n"));
    let config = filch_build::server::Config {
        tokens: Some(filch_build::server::Tokens::new("open", None)),
        ..filch_build::server::Config::default()
    };
    let server = filch_build::server::Server::start(config).await.unwrap();
    let to = format!("http://{}", server.address());
    let start = |folder: &str, token: &str| {
        let options = ["--token-file", token];
        Process::worker_with(&to, &folders.path().join(folder), &options, &[])
    };
    let (status, said) = start("1", &wrong).wait().await;
    assert!(!status.success());
    assert!(
        said.contains("refuses this worker: a token is needed"),
        "{said}"
    );
    let _worker = start("2", &right);
    until(&server, |farm| farm.workers.len() == 1).await;
}
