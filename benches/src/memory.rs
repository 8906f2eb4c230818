//! How much memory is in use: what is asked for, by the system's allocator with a counter that is
//! on only while memory is measured; and what is resident, in a program of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Counts the bytes that are asked for, not what the allocator adds to them.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    // ORDERING: Relaxed: figures; nothing is read through them. While the counter is off, a clean
    // line is read and none is written.
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes that `work` leaves in use, and its result, which holds them.
pub(crate) fn left_in_use<R>(work: impl FnOnce() -> R) -> (R, i64) {
    BYTES.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    let holder = work();
    ON.store(false, Ordering::Relaxed);
    (holder, BYTES.load(Ordering::Relaxed))
}

/// The bytes of this program that are resident. 0 where the system does not say.
pub(crate) fn resident() -> i64 {
    const PAGE: i64 = 4096;
    let pages = fs::read_to_string("/proc/self/statm");
    let pages = pages.unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    PAGE * resident.unwrap_or(0)
}

/// What this program says of `contender` with `count` processes, run anew: see `main`.
pub(crate) fn of_a_program(contender: &str, count: u64) -> f64 {
    let program = env::current_exe().expect("the system knows this program");
    let output = Command::new(program)
        .args(["--resident", contender, "--processes", &count.to_string()])
        .output()
        .expect("it starts as this one did");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().expect("it prints its figure")
}
