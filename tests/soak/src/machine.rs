//! The machine: a watchdog that notices a lack of progress, memory, panics, and threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, mem, panic, thread};

use filch_actors::prelude::*;
use filch_scheduler::Handle;

use crate::account::{Place, complain, lock, place, progress_so_far};
use crate::cast::Soak;

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

/// Starts the watchdog: it ends a program without progress, with all that is known. It lives as
/// long as the program runs.
pub(crate) fn watch_progress() {
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

/// Counts the requested bytes, without what the allocator adds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    // ORDERING: Relaxed: a figure; nothing is read through it.
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            count(layout.size() as i64);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the bytes in use.
pub(crate) fn live_bytes() -> i64 {
    BYTES.load(Ordering::Relaxed)
}

/// The beginning of planned panics.
const PLANNED: &str = "soak: ";

/// Sorts all panics of this program from now on into planned ones and findings.
pub(crate) fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("no text");
        if !message.starts_with(PLANNED) {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            complain(format!(
                "a panic that nobody planned, at {place}: {message}"
            ));
        }
    }));
}

/// Returns the number of threads, as the kernel counts them: a list of them may miss one beside
/// another that is just leaving. `None` without `/proc`.
pub(crate) fn threads() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    line?.trim().parse().ok()
}

/// Returns the names of the threads, for people.
pub(crate) fn thread_names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = tasks.flatten().map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.trim().to_owned()
    });
    names.collect()
}

/// Returns the resident bytes. `None` without `/proc`.
pub(crate) fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
