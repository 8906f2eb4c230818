//! Measures what a worker adds to an action that does nothing: `cargo run --release --example
//! overhead`. Beside it, what the start of that process takes alone.

use std::error::Error;
use std::future;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use filch_build::digest::Digest;
use filch_build::reapi::{Action, Command, Directory};
use filch_build::storage::Blobs;
use filch_build::worker::{Limits, Runner};
use prost::Message;

const RUNS: usize = 1000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let blobs = Blobs::in_memory();
    let command = Command {
        arguments: vec!["/bin/true".to_owned()],
        ..Command::default()
    };
    let action = Action {
        command_digest: Some(put(&blobs, &command).await?.into()),
        input_root_digest: Some(put(&blobs, &Directory::default()).await?.into()),
        ..Action::default()
    };
    let action = put(&blobs, &action).await?;
    let runner = Runner::new("here", folder.path(), Limits::default());
    let (mut alone, mut run) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let begin = Instant::now();
        let mut process = Process::new("/bin/true");
        let process = process
            .env_clear()
            .current_dir(folder.path())
            .stdin(Stdio::null());
        process.output()?;
        alone.push(begin.elapsed());
        let begin = Instant::now();
        runner.run(action, &blobs, future::pending()).await?;
        run.push(begin.elapsed());
    }
    let (alone, run) = (median(alone), median(run));
    println!(
        "process alone {alone:?}, as an action {run:?}: {:?} more",
        run.saturating_sub(alone)
    );
    Ok(())
}

async fn put(blobs: &Blobs, message: &impl Message) -> Result<Digest, Box<dyn Error>> {
    let bytes = message.encode_to_vec();
    let digest = Digest::of(&bytes);
    blobs.write(digest, bytes.into()).await?;
    Ok(digest)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
