//! Commands and blocking I/O: one is answered at once, others on threads that may block.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, io};

use filch::actors::BlockingThreads;
use filch::prelude::*;
use filch::scheduler::{
    CommandError, Completion, Context, Event, Events, InitError, Process, Protocol, Scheduler,
    StepOutput,
};

// ANCHOR: protocol
enum Files {}

impl Protocol for Files {
    type Input = Vec<PathBuf>;
    type Message = ();
    type Command = PathBuf; // read this file
    type Reply = usize; // how many lines it has
    type Output = Vec<Result<usize, String>>;
    type Error = io::Error;
}
// ANCHOR_END: protocol

// ANCHOR: handler
fn start() -> Result<Scheduler<Files>, Box<dyn Error + Send + Sync>> {
    let threads = BlockingThreads::new(NonZeroUsize::MIN.saturating_add(7));
    let handler = move |path: PathBuf, completion: Completion<Files>| {
        // Short, so the worker does it here.
        if path.as_os_str().is_empty() {
            return completion.fail(io::Error::other("a path of nothing"));
        }
        // The system may take its time, so a thread waits, and no worker.
        let label = format!("read {}", path.display());
        threads.run_labelled(label, completion, move || {
            let lines = fs::read_to_string(path)?.lines().count();
            assert!(lines > 0, "an empty file");
            Ok(lines)
        });
    };
    Ok(Scheduler::builder().workers(2).handler(handler).build()?)
}
// ANCHOR_END: handler

// ANCHOR: process
/// Reads all its files at the same time.
#[derive(Default)]
struct Reader {
    unread: Vec<PathBuf>,
    missing: usize,
    lines: Vec<Result<usize, String>>,
}

impl Process<Files> for Reader {
    fn init(
        &mut self,
        _: &Context<'_, Files>,
        _: &str,
        paths: Vec<PathBuf>,
    ) -> Result<(), InitError<Files>> {
        self.missing = paths.len();
        self.lines = vec![Ok(0); paths.len()];
        self.unread = paths;
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Files>,
        events: Events<'_, Files>,
        out: &mut StepOutput<Files>,
    ) -> Result<(), io::Error> {
        for event in events {
            match event {
                // In any order: the tag names the command.
                Event::Completed { tag, result } => {
                    self.lines[tag as usize] = result.map_err(|error| in_words(&error));
                    self.missing -= 1;
                }
                Event::Cancel(_) => return Err(io::ErrorKind::Interrupted.into()),
                _ => {}
            }
        }
        for (tag, path) in self.unread.drain(..).enumerate() {
            out.yield_command(tag as u64, path);
        }
        match self.missing {
            0 => out.done(std::mem::take(&mut self.lines)),
            _ => out.wait(),
        }
        Ok(())
    }
}

fn in_words(error: &CommandError<Files>) -> String {
    match error {
        CommandError::Failed(error) => format!("failed: {error}"),
        CommandError::Panicked(message) => format!("panicked: {message}"),
        other => other.to_string(),
    }
}
// ANCHOR_END: process

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // ANCHOR: run
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let empty = std::env::temp_dir().join(format!("filch-guide-{}", std::process::id()));
    fs::write(&empty, "")?;
    let paths = vec![
        package.join("README.md"),
        package.join("no such file"),
        PathBuf::new(),
        empty.clone(),
    ];
    let lines = start()?.execute(Reader::default(), "run", paths)?;
    fs::remove_file(empty)?;

    assert!(matches!(lines[0], Ok(lines) if lines > 10));
    assert!(matches!(&lines[1], Err(error) if error.starts_with("failed: ")));
    assert_eq!(lines[2], Err("failed: a path of nothing".to_owned()));
    assert_eq!(lines[3], Err("panicked: an empty file".to_owned()));
    // ANCHOR_END: run
    Ok(())
}
