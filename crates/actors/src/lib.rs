#![doc = include_str!("../README.md")]
//!
//! # The files
//!
//! | folder, from below | what stands there |
//! |---|---|
//! | `timers`, `blocking`, `nodes`, `ended`, `dynamic` | a file each |
//! | `report/` | the journal, the dump, and who waits for whom |
//! | `registry` | names and groups |
//! | `mailbox/` | limits, what becomes of one message more, and senders that wait |
//! | `call/` | callers, answers, and calls by threads, futures and processes |
//! | `future/` | futures and async functions as processes, and their inbox |
//! | `execute`, `follow` | a process that is submitted to be waited for |
//! | `handle`, `step`, `submission` | the traits; `timers` has one, too |
#![deny(unsafe_code)]

mod blocking;
mod call;
pub mod dynamic;
mod execute;
mod future;
mod handle;
mod mailbox;
mod nodes;
mod registry;
mod report;
mod step;
mod submission;
#[cfg(test)]
mod tests;
pub mod timers;

pub use blocking::BlockingThreads;
pub use call::caller::{Answer, Asked, Caller, NoAnswer};
pub use call::errors::CallError;
pub use execute::{ExecuteError, execute_for};
pub use future::async_fn::{AsyncFn, Function, SpawnError};
pub use future::inbox::Inbox;
pub use future::join_handle::JoinHandle;
pub use handle::HandleExt;
pub use mailbox::sending::{MailboxFull, Sending, SendingError, WhenFull};
pub use nodes::ConnectError;
pub use registry::{Broadcast, GroupError, RegisterError};
pub use report::dump::Dump;
pub use report::journal::Journal;
pub use report::rings::Rings;
pub use step::StepOutputExt;
pub use submission::SubmissionExt;

/// The traits that add this crate's methods to the scheduler's types.
pub mod prelude {
    pub use crate::timers::TimersExt;
    pub use crate::{HandleExt, StepOutputExt, SubmissionExt};
}
