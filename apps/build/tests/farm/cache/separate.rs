//! A coordinator as a separate process, with its own environment.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use crate::client::{Client, soon};
use crate::program::{Program, filch_build};
use crate::server::TestServer;

pub(crate) type Variables<'a> = &'a [(&'a str, &'a str)];

fn command(storage: &str, environment: Variables<'_>) -> Command {
    let mut command = filch_build(&["serve", "--listen", "127.0.0.1:0", "--storage", storage]);
    // Nothing of the tests' own environment is passed, and a cloud's metadata is not asked for.
    command.env_clear().env("AWS_EC2_METADATA_DISABLED", "true");
    command.envs(environment.iter().copied());
    command
}

/// Starts a coordinator with that storage.
pub(crate) async fn start(storage: &str, environment: Variables<'_>) -> TestServer<Program> {
    let folder = tempfile::tempdir().unwrap();
    let log = File::create(folder.path().join("log")).unwrap();
    let mut command = command(storage, environment);
    command.stderr(log);
    let started = tokio::task::spawn_blocking(|| Program::coordinator(|_| command));
    let (running, address) = soon(started).await.unwrap();
    TestServer {
        running,
        folder,
        client: Client::new(address).await,
    }
}

impl TestServer<Program> {
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

/// Returns the text with which a coordinator ends that cannot use its storage.
pub(crate) async fn refusal(storage: &str, environment: Variables<'_>) -> String {
    let mut command = command(storage, environment);
    command.stderr(Stdio::piped());
    let (status, said) = Program::start(|_| command).wait().await;
    assert_eq!(status.code(), Some(1), "{said}");
    said
}
