//! Actions for the tests, and a runner with its folder.

use std::fs;
use std::future;
use std::thread;
use std::time::Duration;

use filch_build::digest::Digest;
use filch_build::reapi::{
    Action, ActionResult, Command, Directory, DirectoryNode, FileNode, SymlinkNode,
    command::EnvironmentVariable,
};
use filch_build::storage::Blobs;
use filch_build::worker::{Limits, RunError, Runner, Sandbox, SandboxOptions};
use prost::Message;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tonic::Code;

/// A runner, its storage and its folder.
pub(crate) struct Bench {
    pub(crate) blobs: Blobs,
    pub(crate) folder: TempDir,
    pub(crate) limits: Limits,
    pub(crate) sandbox: Option<Sandbox>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let mut bench = Self::bare();
        let options = SandboxOptions {
            launcher: Some(env!("CARGO_BIN_EXE_filch-sandbox").into()),
            ..SandboxOptions::default()
        };
        let folder = bench.folder.path().to_owned();
        let open = async move { options.open(&folder, &[]).await };
        // Tests run in a runtime already.
        let open = thread::spawn(|| Runtime::new().unwrap().block_on(open));
        bench.sandbox = open.join().unwrap().unwrap();
        bench
    }

    /// Makes one whose actions run without a sandbox.
    pub(crate) fn bare() -> Self {
        Self {
            blobs: Blobs::in_memory(),
            folder: TempDir::new().unwrap(),
            limits: Limits::default(),
            sandbox: None,
        }
    }

    pub(crate) async fn put(&self, bytes: impl AsRef<[u8]>) -> Digest {
        let digest = Digest::of(bytes.as_ref());
        let bytes = bytes.as_ref().to_vec().into();
        self.blobs.write(digest, bytes).await.unwrap();
        digest
    }

    pub(crate) async fn message(&self, message: &impl Message) -> Digest {
        self.put(message.encode_to_vec()).await
    }

    pub(crate) async fn file(&self, name: &str, text: &str) -> FileNode {
        FileNode {
            name: name.to_owned(),
            digest: Some(self.put(text).await.into()),
            ..FileNode::default()
        }
    }

    /// Stores a program that is this script.
    pub(crate) async fn tool(&self, script: &str) -> Directory {
        let mut tool = self.file("tool", &format!("#!/bin/sh\n{script}")).await;
        tool.is_executable = true;
        files(&[tool])
    }

    /// Stores the action of this command on these inputs.
    pub(crate) async fn action(&self, command: &Command, root: &Directory) -> Digest {
        let action = Action {
            command_digest: Some(self.message(command).await.into()),
            input_root_digest: Some(self.message(root).await.into()),
            ..Action::default()
        };
        self.message(&action).await
    }

    pub(crate) fn runner(&self) -> Runner {
        let (limits, sandbox) = (self.limits.clone(), self.sandbox.clone());
        Runner::new("tester", self.folder.path(), limits, sandbox)
    }

    /// Runs it, and checks that nothing of it is left.
    pub(crate) async fn run(&self, action: Digest) -> Result<ActionResult, RunError> {
        let runner = self.runner();
        let result = runner.run(action, &self.blobs, future::pending()).await;
        // With the sandbox that waits for the next action.
        drop(runner);
        self.nothing_is_left().await;
        result
    }

    /// Waits until no action has a folder: their removal goes on when they have ended.
    pub(crate) async fn nothing_is_left(&self) {
        let wait = async {
            while fs::read_dir(self.folder.path()).unwrap().count() > 0 {
                tokio::task::yield_now().await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(60), wait).await;
        gone.expect("the folder of an action is still there");
    }

    /// Runs a script without inputs.
    pub(crate) async fn sh(&self, script: &str) -> Result<ActionResult, RunError> {
        self.sh_with(script, &Directory::default(), &[]).await
    }

    /// Runs a script with these inputs and outputs.
    pub(crate) async fn sh_with(
        &self,
        script: &str,
        root: &Directory,
        outputs: &[&str],
    ) -> Result<ActionResult, RunError> {
        let command = Command {
            output_paths: outputs.iter().map(|&path| path.to_owned()).collect(),
            ..sh(script)
        };
        self.command(&command, root).await
    }

    /// Runs a command with these inputs.
    pub(crate) async fn command(
        &self,
        command: &Command,
        root: &Directory,
    ) -> Result<ActionResult, RunError> {
        self.run(self.action(command, root).await).await
    }

    pub(crate) async fn text(&self, digest: &Option<filch_build::reapi::Digest>) -> String {
        let digest = Digest::try_from(digest.as_ref().unwrap()).unwrap();
        String::from_utf8(self.blobs.read(digest).await.unwrap().to_vec()).unwrap()
    }
}

/// Makes a command that runs a script.
pub(crate) fn sh(script: &str) -> Command {
    Command {
        arguments: ["sh", "-c", script].map(str::to_owned).to_vec(),
        ..Command::default()
    }
}

pub(crate) fn files(files: &[FileNode]) -> Directory {
    Directory {
        files: files.to_vec(),
        ..Directory::default()
    }
}

/// Stores a folder; makes its node.
pub(crate) async fn folder(bench: &Bench, name: &str, directory: &Directory) -> DirectoryNode {
    DirectoryNode {
        name: name.to_owned(),
        digest: Some(bench.message(directory).await.into()),
    }
}

pub(crate) fn variable(name: &str, value: &str) -> EnvironmentVariable {
    EnvironmentVariable {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

pub(crate) fn link(name: &str, target: &str) -> SymlinkNode {
    SymlinkNode {
        name: name.to_owned(),
        target: target.to_owned(),
        node_properties: None,
    }
}

pub(crate) fn stdout(result: &ActionResult) -> &str {
    std::str::from_utf8(&result.stdout_raw).unwrap()
}

pub(crate) fn stderr(result: &ActionResult) -> &str {
    std::str::from_utf8(&result.stderr_raw).unwrap()
}

/// Checks the code of the error, that its text contains `part`, and that the action is to blame.
#[track_caller]
pub(crate) fn refused(result: Result<ActionResult, RunError>, code: Code, part: &str) {
    let error = result.expect_err(part);
    assert!(error.to_string().contains(part), "{error}");
    assert_eq!((error.code(), error.elsewhere()), (code, false), "{error}");
}
