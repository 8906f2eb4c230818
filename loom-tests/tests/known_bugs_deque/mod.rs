//! Bugs of deques like ours, in small copies, and that the checker sees them.
//!
//! The handing to and fro between a deque's owner and all, with one step left out or out of place;
//! and what threads that sleep are told. Claims against pops and rings, and the textbook's deque,
//! are in `tour`. Each scenario also passes without the bug, so it is not the model that is at
//! fault.

mod biased_miniature;
mod robbing;
mod sleeping;
mod telling;

/// Added to the word that thieves compare, it starts the next epoch; below it is the index.
const TAG: u64 = 1 << 32;
