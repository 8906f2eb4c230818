//! The table of processes: names that are never reused, slots that are, and exact ends.

pub(crate) mod admission;
#[expect(
    unsafe_code,
    reason = "stands for slots, and for values of forgotten types"
)]
pub(crate) mod body;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
pub(crate) mod inline_box;
#[expect(
    unsafe_code,
    reason = "hands the body from worker to worker, and the exit to the handle"
)]
pub(crate) mod life;
#[expect(unsafe_code, reason = "has the policy of the slot's occupant")]
pub(crate) mod mailbox;
pub(crate) mod pid;
#[expect(unsafe_code, reason = "shares a pin, and gives it back")]
pub(crate) mod pinned;
#[expect(unsafe_code, reason = "is shared, and drains its own queue")]
pub(crate) mod slot;
pub(crate) mod stats;
#[expect(clippy::module_inception, reason = "the noun that a reader looks for")]
#[expect(unsafe_code, reason = "owns the slots")]
pub(crate) mod table;
#[expect(unsafe_code, reason = "ends the process that the worker has")]
pub(crate) mod teardown;
#[cfg(all(test, not(loom)))]
#[expect(unsafe_code, reason = "one thread takes all roles")]
mod tests;
#[expect(unsafe_code, reason = "takes a waiter out of its word")]
pub(crate) mod waiter;

pub use admission::Admission;
pub use body::Item;
pub use inline_box::InlineBox;
pub use life::LifeCell;
pub use mailbox::{Mailbox, Takes};
pub use slot::{Placement, Slot, Urgency, Urgent};
pub use table::{Pin, Table};
pub use teardown::{Closed, Completed};
pub use waiter::Waiting;
