//! What filch's comparisons are stored as, and what is made of it: tables, plots, ratios.
//!
//! `filch-benches` measures and writes; `cargo xtask bench` compares stored runs and puts their
//! tables into docs/performance.md, and `cargo xtask lint` sees that they stay what was measured.

pub mod compare;
pub mod estimate;
mod folder;
pub mod headlines;
mod losses;
pub mod page;
mod plots;
mod ratio;
mod reasons;
mod report;
pub mod run;
mod tables;

pub use folder::Folder;
pub use ratio::{Ratio, Verdict};
pub use reasons::{Reason, Reasons};
