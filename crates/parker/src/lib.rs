#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

#[cfg(not(target_os = "none"))]
mod block_on;
#[cfg(not(target_os = "none"))]
mod parker;
mod spinner;
mod token;

#[cfg(not(target_os = "none"))]
pub use block_on::{block_on, poll_until};
#[cfg(not(target_os = "none"))]
pub use parker::{Parker, Unparker};
pub use spinner::{AdaptiveSpinner, Spin};
pub use token::Token;

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
