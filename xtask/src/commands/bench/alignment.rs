//! Where jumps stand in the code that is measured.

use std::process::Command;

use crate::support::process::target_directory;

/// Keeps jumps within 32 bytes of code, ours and the rivals'. Intel's processors from Skylake to
/// Cascade Lake decode one that does not fit anew each time (erratum SKX102). So the place where a
/// linker puts a function would decide rows of few nanoseconds: one took 7.2 ns, and 5.3 with this.
/// In a directory of its own, as all is built anew.
pub(super) fn align_branches(command: &mut Command) {
    if let Some(flag) = aligned_branches() {
        command
            .env("RUSTFLAGS", flag)
            .env("CARGO_TARGET_DIR", target_directory("bench"));
    }
}

/// The flag for that, unless the caller has flags of their own.
pub(super) fn aligned_branches() -> Option<&'static str> {
    let applies = std::env::consts::ARCH == "x86_64" && std::env::var_os("RUSTFLAGS").is_none();
    applies.then_some("-Cllvm-args=-x86-branches-within-32B-boundaries")
}
