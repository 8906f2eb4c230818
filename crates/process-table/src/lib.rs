#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod admission;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
mod inline_box;
#[expect(
    unsafe_code,
    reason = "hands the body from worker to worker, and the exit to the handle"
)]
mod life_cell;
mod mailbox;
mod pid;
#[expect(unsafe_code, reason = "is shared, and drains its own queue")]
mod slot;
mod stats;
#[expect(unsafe_code, reason = "owns the slots")]
mod table;
#[expect(unsafe_code, reason = "ends the process that the worker has")]
mod teardown;
mod urgency;

pub use admission::{Admission, Refusal};
pub use filch_slab::SlabFull;
pub use inline_box::{InlineBox, Room};
pub use life_cell::LifeCell;
pub use mailbox::MailboxLimit;
pub use pid::{Node, Pid};
pub use slot::{Placement, Slot};
pub use stats::{Awaited, ProcessStats};
pub use table::{Pin, Table};
pub use teardown::{Closed, Completed};
pub use urgency::{Urgency, Urgent};

#[doc = include_str!("../ALGORITHM.md")]
pub mod algorithm {}
