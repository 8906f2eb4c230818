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

/// The most bytes of this program that were resident at a time. 0 where the system does not say.
pub(crate) fn peak() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
    1024 * kib.unwrap_or(0)
}

/// The figure that this program prints, run anew with these arguments: see `main`.
pub(crate) fn of_a_program(arguments: &[&str]) -> f64 {
    figures_of_a_program(arguments)[0]
}

/// The figures that this program prints, run anew with these arguments: see `main`.
pub(crate) fn figures_of_a_program(arguments: &[&str]) -> Vec<f64> {
    let program = env::current_exe().expect("the system knows this program");
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("it starts as this one did");
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text.split_whitespace();
    let figures: Vec<f64> = figures.map_while(|figure| figure.parse().ok()).collect();
    assert!(!figures.is_empty(), "{arguments:?} prints no figures");
    figures
}
