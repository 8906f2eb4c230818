//! The examples of the project's README, as documentation tests: they compile and run.

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
