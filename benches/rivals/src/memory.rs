//! How much memory is in use: what is asked for, by the system's allocator with a counter that is
//! on only while memory is measured; and what is resident.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
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

    // Not what the trait has: that would write zeros into pages that the system gives as zeros, and
    // copy what the system can move.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.realloc(memory, layout, size) }
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
    of_status("self", "VmRSS:")
}

/// The most bytes of this program that were resident at a time. 0 where the system does not say.
pub(crate) fn peak() -> i64 {
    of_status("self", "VmHWM:")
}

/// What is resident of another program, now and at most.
pub(crate) fn resident_and_peak(process: u32) -> [i64; 2] {
    ["VmRSS:", "VmHWM:"].map(|field| of_status(&process.to_string(), field))
}

fn of_status(process: &str, field: &str) -> i64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
    1024 * kib.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::left_in_use;

    #[test]
    fn what_grows_and_what_is_zeroed_is_counted() {
        let (grown, bytes) = left_in_use(|| {
            let mut grown: Vec<u64> = Vec::with_capacity(1);
            grown.extend(black_box(0..1000));
            grown.shrink_to(600);
            grown
        });
        assert_eq!(bytes, 8 * grown.capacity() as i64);
        let (zeroed, bytes) = left_in_use(|| vec![0_u64; black_box(500)]);
        assert_eq!(bytes, 8 * zeroed.capacity() as i64);
    }
}
