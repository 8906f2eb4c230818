#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod parker;
mod spinner;
mod token;
mod unparker;

pub use parker::Parker;
pub use spinner::{AdaptiveSpinner, Spin};
pub use unparker::Unparker;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
