//! Notes which compiler builds the comparisons: a result must name it.

use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(compiler).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!(
        "cargo::rustc-env=FILCH_RUSTC={}",
        version.unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=build.rs");
}
