#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod child;
mod driver;
mod error;
mod handle;
mod info;
mod mail;
mod plan;
mod settings;
mod supervisor;

pub use child::Child;
pub use error::{NotAdded, SupervisorError};
pub use filch_promise::Answer;
pub use handle::SupervisorHandle;
pub use info::{ChildInfo, ChildState};
pub use plan::child::{ChildId, ChildRef};
pub use plan::event::Failure;
pub use plan::request::ChildError;
pub use settings::{Backoff, Restart, Shutdown, Strategy};
pub use supervisor::Supervisor;
