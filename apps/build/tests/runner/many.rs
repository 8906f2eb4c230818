//! The time that an action with very many inputs takes, and its parts.
//!
//! ```sh
//! cargo test --release -p filch-build --test runner -- --ignored --nocapture many
//! ```

use std::fs;
use std::future;
use std::time::Instant;

use bazel_remote_apis::google::protobuf::Timestamp;
use filch_build::digest::Digest;
use filch_build::reapi::{Action, Directory, DirectoryNode, FileNode};
use filch_build::storage::{Limits, Location, Storage};
use filch_build::worker::Runner;
use prost::Message;
use tempfile::TempDir;

use crate::actions::sh;

const FOLDERS: usize = 1000;
const FILES: usize = 100;
const ROUNDS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn many_inputs() {
    let folder = TempDir::new().unwrap();
    let cache = Location::Disk(folder.path().join("cache"));
    let storage = Storage::open(&cache, Limits::default()).await.unwrap();
    let put = async |bytes: Vec<u8>| {
        let digest = Digest::of(&bytes);
        storage.blobs.write(digest, bytes.into()).await.unwrap();
        Some(digest.into())
    };
    let mut root = Directory::default();
    for number in 0..FOLDERS {
        let mut directory = Directory::default();
        for file in 0..FILES {
            directory.files.push(FileNode {
                name: format!("{file:03}"),
                digest: put(format!("{number} {file} ").repeat(30).into()).await,
                ..FileNode::default()
            });
        }
        root.directories.push(DirectoryNode {
            name: format!("{number:04}"),
            digest: put(directory.encode_to_vec()).await,
        });
    }
    let input_root_digest = put(root.encode_to_vec()).await;
    let actions = folder.path().join("actions");
    let runner = Runner::new("here", &actions, Default::default(), None);
    println!("s: placing, running, keeping, until the result, until the folder is gone");
    for round in 0..ROUNDS {
        let action = Action {
            command_digest: put(sh(&format!("true {round}")).encode_to_vec()).await,
            input_root_digest: input_root_digest.clone(),
            ..Action::default()
        };
        let action = Digest::try_from(&put(action.encode_to_vec()).await.unwrap()).unwrap();
        let begin = Instant::now();
        let result = runner.run(action, &storage.blobs, future::pending()).await;
        let answered = begin.elapsed();
        while fs::read_dir(&actions).unwrap().count() > 0 {
            tokio::task::yield_now().await;
        }
        let gone = begin.elapsed();
        let times = result.unwrap().execution_metadata.unwrap();
        let at = |time: Option<Timestamp>| {
            let time = time.unwrap();
            time.seconds as f64 + f64::from(time.nanos) / 1e9
        };
        let took = |from, to| at(to) - at(from);
        let parts = [
            took(
                times.input_fetch_start_timestamp,
                times.input_fetch_completed_timestamp,
            ),
            took(
                times.execution_start_timestamp,
                times.execution_completed_timestamp,
            ),
            took(
                times.output_upload_start_timestamp,
                times.output_upload_completed_timestamp,
            ),
            answered.as_secs_f64(),
            gone.as_secs_f64(),
        ];
        println!("{parts:.3?}");
    }
}
