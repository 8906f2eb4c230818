#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod child;
mod driver;
mod handle;
mod mail;
mod plan;
mod settings;
mod supervisor;

pub use child::Child;
pub use filch_promise::Answer;
pub use handle::{ChildInfo, ChildState, NotAdded, SupervisorError, SupervisorHandle};
pub use plan::child::{ChildId, ChildRef};
pub use plan::event::{ChildError, Failure};
pub use settings::{Backoff, Restart, Shutdown, Strategy};
pub use supervisor::Supervisor;
