//! What the programs here say about themselves.

use std::thread;

/// Whose threads rayon runs on: `rayon`, or `filch` with the line in Cargo.toml. filch's bear its
/// name, rayon's have none.
pub fn core() -> &'static str {
    let is_filch = rayon::scope(|_| {
        let thread = thread::current();
        thread.name().is_some_and(|name| name.starts_with("filch"))
    });
    if is_filch { "filch" } else { "rayon" }
}
