//! Hostile surroundings for filch: users' types that panic, little memory, and no threads.
//!
//! A [`Bomb`] is a value whose destructor may panic; a [`Squad`] makes bombs and records which were
//! dropped. [`Ledger`] is the allocator of every program that uses this package: it counts the
//! memory that a thread holds, and refuses memory on that thread's request. [`refuse_threads`]
//! refuses a process its threads. docs/correctness.md says what the crates promise then.

mod bomb;
mod ledger;
mod stack;
#[cfg(target_os = "linux")]
mod threads;

pub use bomb::{Bomb, Explosion, Squad, explosion_of};
pub use ledger::{Ledger, held, largest, refusing};
pub use stack::on_a_small_stack;
#[cfg(target_os = "linux")]
pub use threads::{allow_threads, in_a_process_of_its_own, refuse_threads};

#[global_allocator]
static LEDGER: Ledger = Ledger;
