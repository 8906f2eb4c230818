//! Supervisors.
#![forbid(unsafe_code)]

mod plan;
mod settings;

pub use plan::child_id::{ChildId, ChildRef};
pub use plan::failure::Failure;
pub use plan::request::ChildError;
pub use settings::backoff::Backoff;
pub use settings::restart::Restart;
pub use settings::shutdown::Shutdown;
pub use settings::strategy::Strategy;
