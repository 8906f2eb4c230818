//! Calls, and futures as processes, on the public interface of [`filch_scheduler`] alone.
#![deny(unsafe_code)]

mod ask;
mod blocking;
mod call;
#[expect(unsafe_code, reason = "has the right to the place of an answer")]
mod caller;
mod dump;
pub mod dynamic;
mod ended;
mod execute;
mod follow;
mod future;
mod journal;
mod mailbox;
mod nodes;
#[expect(unsafe_code, reason = "an answer is its caller's until it is given")]
mod process_call;
mod registry;
mod rings;
pub mod timers;
mod wait_graph;

pub use ask::Asked;
pub use call::{CallError, Calls};
pub use caller::{Answer, Caller, NoAnswer};
pub use process_call::StepCalls;
pub use future::inbox::Inbox;
pub use future::join_handle::JoinHandle;
pub use future::spawn::{AsyncFn, SpawnError, Spawns, SpawnsPrepared};
pub use mailbox::send_when_room::{Sending, SendingError, Sends, StepSending};
pub use mailbox::when_full::{MailboxFull, Mailboxes, WhenFull};
pub use execute::{ExecuteError, Executes};
pub use follow::Follows;
pub use registry::groups::{Broadcast, GroupError, Grouped};
pub use registry::names::{Named, Names, RegisterError};
pub use blocking::BlockingThreads;
pub use dump::{Dump, Dumps};
pub use journal::journal::Journals;
pub use nodes::{ConnectError, Nodes};
pub use rings::{Rings, WithRings};
pub use ended::{Ends, EndsOfWaiting};
pub use timers::Deadlines;
