#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod admission;
mod details;
mod exit_reason;
mod info;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
mod inline_box;
#[expect(
    unsafe_code,
    reason = "hands the body from worker to worker, and the exit to the handle"
)]
mod life_cell;
mod mailbox;
mod monitor;
#[cfg_attr(
    test,
    expect(unsafe_code, reason = "the test gives pins of its own back")
)]
mod names;
mod no_such_process;
mod pid;
mod process_list;
#[expect(unsafe_code, reason = "is shared, and drains its own queue")]
mod slot;
mod standstill;
mod stats;
#[expect(unsafe_code, reason = "owns the slots")]
mod table;
#[expect(unsafe_code, reason = "ends the process that the worker has")]
mod teardown;
mod urgency;
mod wait_graph;
mod waker_clones;
mod watch;

pub use admission::{Admission, Refusal};
pub use details::{PendingCommand, ProcessDetails};
pub use exit_reason::ExitReason;
pub use filch_event_queue::Depth;
pub use filch_slab::{AllocateError, Batch};
pub use info::{Activity, PendingFuture, PendingTimers, ProcessInfo};
pub use inline_box::InlineBox;
pub use life_cell::LifeCell;
pub use mailbox::{Excess, Mailbox, MailboxError, MailboxLimit};
pub use monitor::{Down, Exited, Link, Monitor};
pub use names::{NameRegistry, RegisterError};
pub use no_such_process::NoSuchProcess;
pub use pid::{Node, Pid};
pub use process_list::ProcessList;
pub use slot::{Placement, Slot};
pub use standstill::{Standstill, Verdict};
pub use stats::{Awaited, ProcessStats, StepCount};
pub use table::{Pin, Table};
pub use teardown::{Closed, Completed};
pub use urgency::{Urgency, Urgent};
pub use watch::{Watch, WatchKind, WatchList};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
