//! The program `filch-sandbox`, which makes the sandbox of an action for `filch-build`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    filch_build::worker::launch()
}
