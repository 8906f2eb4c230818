//! Whole simulations: graphs by hand, with the times that a person worked out, and random ones.
//!
//! Invariants of each simulation, for every policy:
//!
//! 1. Each job runs once, not before all its inputs have been made, and is ready when they are.
//! 2. A worker runs at most as many jobs at a time as it has slots.
//! 3. A job takes its run time, and the transfer of what its worker did not have: what it had
//!    neither made nor fetched in a job that had ended.
//! 4. No makespan is below the lower bound.
//! 5. The same settings give the same outcome.

mod by_hand;
mod properties;
mod shared;
