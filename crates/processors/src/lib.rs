#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[expect(
    unsafe_code,
    reason = "a thread finds its own processor through a pointer kept by the thread itself"
)]
mod current;
mod find_work;
#[doc(hidden)] // public for the models, which check the protocol by itself
pub mod idle;
mod machine;
#[doc(hidden)] // for the schedulers, which contain their users' panics too
pub mod panic;
mod processor;
mod processors;
mod random;
mod stats;

pub use machine::Machines;
pub use processors::{Config, Processors, Runner, StartError};
#[doc(hidden)] // for the schedulers, which count per worker too
pub use stats::Counter;
pub use stats::ProcessorStats;

#[doc = include_str!("../ARCHITECTURE.md")]
pub mod architecture {}
