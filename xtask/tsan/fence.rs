//! Acquire fences for ThreadSanitizer, which knows no fence.
//!
//! `Arc` counts down with Release, and its last owner passes such a fence before it drops the
//! value. The fence acquires the word that its thread has just counted down to nothing: an edge
//! that the language has, so that no race is hidden. Both functions are called in place of the
//! sanitizer's.
#![no_std]
#![feature(thread_local)]

use core::cell::Cell;
use core::ptr;

/// The sanitizer's number for this ordering.
const ACQUIRE: i32 = 2;

/// The word that this thread's last subtraction left at nothing, until the thread passes a fence.
#[thread_local]
static COUNTED: Cell<*mut u64> = Cell::new(ptr::null_mut());

unsafe extern "C" {
    fn __real___tsan_atomic64_fetch_sub(word: *mut u64, value: u64, ordering: i32) -> u64;
    fn __real___tsan_atomic_thread_fence(ordering: i32);
    fn __tsan_acquire(word: *mut u64);
}

/// # Safety
/// As the sanitizer's: `word` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap___tsan_atomic64_fetch_sub(
    word: *mut u64,
    value: u64,
    ordering: i32,
) -> u64 {
    // SAFETY: the caller's word.
    let before = unsafe { __real___tsan_atomic64_fetch_sub(word, value, ordering) };
    let is_last = before == value;
    COUNTED.set(if is_last { word } else { ptr::null_mut() });
    before
}

#[unsafe(no_mangle)]
pub extern "C" fn __wrap___tsan_atomic_thread_fence(ordering: i32) {
    let word = COUNTED.replace(ptr::null_mut());
    // SAFETY: the sanitizer takes any ordering, and the address of no word.
    unsafe {
        __real___tsan_atomic_thread_fence(ordering);
        if ordering == ACQUIRE && !word.is_null() {
            __tsan_acquire(word);
        }
    }
}
