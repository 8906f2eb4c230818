//! A coordinator as a separate process, with its own environment.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::server::{LONG, TestServer, channel};
use crate::servers::Server;

pub(crate) type Variables<'a> = &'a [(&'a str, &'a str)];

fn command(storage: &str, environment: Variables<'_>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch-build"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--storage", storage]);
    // Nothing of the tests' own environment is passed, and a cloud's metadata is not asked for.
    command.env_clear().env("AWS_EC2_METADATA_DISABLED", "true");
    command.envs(environment.iter().copied());
    command
}

/// Starts a coordinator with that storage.
pub(crate) async fn start(storage: &str, environment: Variables<'_>) -> TestServer<Server> {
    let folder = tempfile::tempdir().unwrap();
    let log = File::create(folder.path().join("log")).unwrap();
    let mut command = command(storage, environment);
    command.stdout(Stdio::piped()).stderr(log);
    let started = spawn_blocking(|| {
        let mut running = Server::start(|_| command);
        let address = running.address();
        (running, address)
    });
    let (running, address) = timeout(LONG, started).await.unwrap().unwrap();
    TestServer {
        running,
        folder,
        channel: channel(address.parse().unwrap()).await,
    }
}

impl TestServer<Server> {
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

/// Returns the text with which a coordinator ends that cannot use its storage.
pub(crate) async fn refusal(storage: &str, environment: Variables<'_>) -> String {
    let mut command = tokio::process::Command::from(command(storage, environment));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(LONG, command.output()).await;
    let output = output.expect("it has not ended").unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}
