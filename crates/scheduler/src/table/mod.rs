//! Where processes live: names that are never reused, slots that are, and exact ends.

mod admission;
pub(crate) mod backlog;
#[expect(
    unsafe_code,
    reason = "stands for slots, and for values of forgotten types"
)]
pub(crate) mod body;
mod details;
mod exit_reason;
mod info;
#[expect(unsafe_code, reason = "keeps a value of a forgotten type in place")]
mod inline_box;
pub(crate) mod item;
#[expect(
    unsafe_code,
    reason = "hands the body from worker to worker, and the exit to the handle"
)]
mod life_cell;
#[expect(unsafe_code, reason = "has the policy of the slot's occupant")]
mod mailbox;
mod no_such_process;
mod pid;
mod process_list;
mod process_stats;
#[expect(unsafe_code, reason = "owns the slots")]
mod process_table;
#[expect(unsafe_code, reason = "is shared, and drains its own queue")]
mod slot;
mod standstill;
#[expect(unsafe_code, reason = "ends the process that the worker has")]
mod teardown;
mod urgency;
mod waker_clones;
mod watch;
mod watchers;

pub use admission::{Admission, Refusal};
pub use details::{PendingCommand, ProcessDetails};
pub use exit_reason::ExitReason;
pub use info::{Activity, PendingFuture, PendingTimers, ProcessInfo};
pub use inline_box::InlineBox;
pub use item::Item;
pub use life_cell::{LifeCell, Waiting};
pub use mailbox::{Mailbox, Takes};
pub use no_such_process::NoSuchProcess;
pub use pid::{Node, Pid};
pub use process_list::ProcessList;
pub use process_table::Table;
pub use slot::{Placement, Slot};
pub use standstill::{Standstill, Verdict};
pub use teardown::Closed;
pub use urgency::{Urgency, Urgent};
pub(crate) use watch::{Watch, WatchKind, Watcher, Watchers};
pub use watchers::{Down, Exited, Link, Monitor};
