//! The table of processes: names that are never reused, slots that are, and exact ends.

pub(crate) mod admission;
pub(crate) mod body;
pub(crate) mod life;
pub(crate) mod pid;
pub(crate) mod pinned;
pub(crate) mod slot;
pub(crate) mod stats;
#[expect(clippy::module_inception, reason = "the noun that a reader looks for")]
pub(crate) mod table;
#[cfg(all(test, not(loom)))]
mod tests;

pub use admission::Admission;
pub use body::Item;
pub use life::LifeCell;
pub use pinned::Pinned;
pub use slot::{CLOSED, ENDS, FUTURE, IDLE_PRIORITY, LIMITED, POLICY, Placement, Slot, URGENT};
pub use table::Table;
