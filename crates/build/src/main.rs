//! The program `filch-build`.

fn main() {}
