//! The stored form of filch's comparisons, and its uses: tables, a chart, ratios.
//!
//! `filch-benches` measures, stores and publishes; the program of this package compares stored runs
//! and publishes one. What is published, a test sees to it that it stays what was measured.

mod chart;
pub mod compare;
pub mod estimate;
mod folder;
mod headlines;
mod losses;
mod page;
pub mod published;
mod ratio;
mod reasons;
pub mod run;
pub mod tables;

pub use folder::{Folder, Unfit};
pub use ratio::{Ratio, Verdict};
