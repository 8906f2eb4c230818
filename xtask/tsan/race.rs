//! A race for ThreadSanitizer to report, of this program and an instruction of the library.

use std::cell::UnsafeCell;
use std::thread;

struct Raced(UnsafeCell<u64>);

// SAFETY: it is not: both threads use it at once.
unsafe impl Sync for Raced {}

static WORD: Raced = Raced(UnsafeCell::new(0));

fn main() {
    // SAFETY: as above.
    let reader = thread::spawn(|| format!("{}", unsafe { &*WORD.0.get() }));
    // SAFETY: as above.
    unsafe { *WORD.0.get() = 1 };
    reader.join().unwrap();
}
