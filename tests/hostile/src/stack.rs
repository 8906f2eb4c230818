//! A thread with a small stack.

use std::thread;

/// Runs `code` on a thread with a stack of `bytes`.
///
/// # Panics
/// If `code` does. If the stack does not suffice, the program dies.
pub fn on_a_small_stack(bytes: usize, code: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(bytes).spawn(code);
    let thread = thread.expect("the system has a thread for a test");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
