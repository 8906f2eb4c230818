//! The stored form of filch's comparisons, and its uses: tables, a chart, ratios.
//!
//! `filch-benches` measures and writes; the program of this package compares stored runs and puts
//! their tables into docs/performance.md, and its test sees that they stay what was measured.

mod chart;
pub mod compare;
pub mod estimate;
mod folder;
pub mod headlines;
mod losses;
pub mod page;
mod ratio;
mod reasons;
pub mod run;
pub mod tables;

pub use folder::Folder;
pub use ratio::{Ratio, Verdict};
pub use reasons::{Reason, Reasons};
