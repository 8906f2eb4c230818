//! The core under rayon, for the programs here to print.

use std::backtrace::Backtrace;

/// Returns the core under rayon: `filch` with the line in Cargo.toml, or else `rayon`. It looks at
/// a job's stack, which begins with the code that took the job.
pub fn core() -> &'static str {
    let stack = rayon::scope(|_| Backtrace::force_capture());
    match stack.to_string().contains("filch_fork_join::") {
        true => "filch",
        false => "rayon",
    }
}
