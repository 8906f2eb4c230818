//! Notices a lack of progress, and ends the program with all that is known.

use std::mem;
use std::process::exit;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_scheduler::Handle;

use crate::account::{Place, lock, place, progress_so_far};
use crate::cast::Soak;
use crate::machine::system::thread_names;

/// The program's exit code if it hangs.
pub(crate) const HANGS: i32 = 3;

/// The most time without progress.
const PATIENCE: Duration = Duration::from_secs(90);

/// The scheduler of the current phase, which is described with a hang.
static SHOWN: Mutex<Option<Handle<Soak>>> = Mutex::new(None);

/// Sets the scheduler to be described, or none.
pub(crate) fn show(scheduler: Option<&Handle<Soak>>) {
    let before = mem::replace(&mut *lock(&SHOWN), scheduler.cloned());
    drop(before);
}

/// Describes it: twice its workers' activity, and what its processes await.
fn describe(handle: &Handle<Soak>) -> String {
    let first = handle.dump();
    thread::park_timeout(Duration::from_secs(1));
    let (second, stats) = (handle.dump(), handle.stats());
    let mut text = format!("{first}\n-- a second later\n{second}\n-- statistics\n{stats}\n");
    for info in handle.list().into_iter().take(40) {
        text.push_str(&format!("{info:?}\n"));
    }
    text
}

/// Starts the watching thread, for as long as the program runs.
pub(crate) fn start() {
    let watch = || {
        let mut seen = (progress_so_far(), Instant::now());
        loop {
            thread::park_timeout(Duration::from_secs(1));
            let progress = progress_so_far();
            if progress != seen.0 {
                seen = (progress, Instant::now());
            } else if seen.1.elapsed() > PATIENCE {
                hang(&format!("no progress for {PATIENCE:?}"));
            }
        }
    };
    let thread = thread::Builder::new().name("watchdog".to_owned());
    if let Err(error) = thread.spawn(watch) {
        eprintln!("no watchdog: {error}");
    }
}

/// Prints everything known about a hang, and ends the program.
pub(crate) fn hang(what: &str) -> ! {
    let place = place();
    let Place { seed, phase, .. } = place;
    eprintln!("HANG ({place}): {what}\n  again: --seed {seed} --phase {phase}");
    eprintln!("threads: {}", thread_names().join(", "));
    match SHOWN.try_lock().as_deref() {
        Ok(Some(scheduler)) => eprintln!("{}", describe(scheduler)),
        _ => eprintln!("no scheduler is shown"),
    }
    exit(HANGS)
}
