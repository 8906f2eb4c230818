//! The heavy fence: asking the system for it, and limiting its use.

use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use super::budget::Budget;
use super::{Refused, system};
use crate::atomic::fence;

const UNKNOWN: u8 = 0;
const AVAILABLE: u8 = 1;
const REFUSED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static PASSED: AtomicU64 = AtomicU64::new(0);
static BUDGET: Budget = Budget::new();

/// Asks the system for heavy fences, once for the life of the process; returns whether it has them.
///
/// On Linux the first call takes 5 µs in a process of one thread, and 6 to 12 *milliseconds* in one
/// that has more: call it before the first thread starts, or see [`register_aside`]. Later calls
/// cost a load.
///
/// ```
/// use filch_sync::asymmetric::{heavy, is_available, register};
///
/// assert_eq!(register(), is_available());
/// assert_eq!(heavy().is_ok(), is_available());
/// ```
pub fn register() -> bool {
    // ORDERING: Relaxed: the system keeps its own account.
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        let works = system::register() && system::fence_all();
        set(if works { AVAILABLE } else { REFUSED });
    }
    is_available()
}

/// [`register`] without a wait: at once in a process of one thread, else on a new thread, and heavy
/// fences are available some milliseconds later.
pub fn register_aside() {
    // ORDERING: Relaxed: as in `register`.
    if STATE.load(Ordering::Relaxed) != UNKNOWN {
        return;
    }
    let aside = thread::Builder::new().name("filch-register".into());
    if is_one_thread() || aside.spawn(register).is_err() {
        register();
    }
}

/// Returns true only if the process certainly has no other thread.
fn is_one_thread() -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        // One folder for each thread, and two more links.
        std::fs::metadata("/proc/self/task").is_ok_and(|tasks| tasks.nlink() == 3)
    }
    #[cfg(not(target_os = "linux"))]
    false
}

fn set(state: u8) {
    // ORDERING: Relaxed: a fact that orders nothing. A thread that learns late does without.
    STATE.store(state, Ordering::Relaxed);
}

/// Returns whether heavy fences are available: the process has [registered](register), and the
/// system has them.
#[inline]
pub fn is_available() -> bool {
    // ORDERING: Relaxed: as in `set`.
    STATE.load(Ordering::Relaxed) == AVAILABLE
}

/// Returns the number of heavy fences that the process has passed: at most 1 000 a second.
pub fn heavy_fences() -> u64 {
    // ORDERING: Relaxed: a figure for people.
    PASSED.load(Ordering::Relaxed)
}

/// Makes each thread of the process, this one included, pass a full fence. Takes microseconds.
///
/// # Errors
///
/// [`Refused`], if none is available. A process passes at most 1 000 a second: each stops all its
/// threads for a moment.
#[doc(alias = "membarrier")]
pub fn heavy() -> Result<(), Refused> {
    if !is_available() {
        return Err(Refused::ForGood);
    }
    if !BUDGET.take(now()) {
        return Err(Refused::ForNow);
    }
    // ORDERING: SeqCst: this thread's own half. The compiler knows nothing of the system's fence.
    fence(Ordering::SeqCst);
    // A forked process may have to register again.
    if !(system::fence_all() || system::register() && system::fence_all()) {
        set(REFUSED);
        return Err(Refused::ForGood);
    }
    fence(Ordering::SeqCst);
    // ORDERING: Relaxed: a figure for people.
    PASSED.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The time, in nanoseconds.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
