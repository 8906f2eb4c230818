//! Hostile surroundings for filch: users' types that panic, and little memory.
//!
//! A [`Bomb`] is a value whose destructor may panic; a [`Squad`] makes bombs and records which were
//! dropped. [`Ledger`] is the allocator of every program that uses this package: it counts the
//! memory that a thread holds, and refuses memory on that thread's request. docs/correctness.md has
//! the table of each crate's promises, and of the tests for them.

mod bomb;
mod ledger;
mod stack;

pub use bomb::{Bomb, Explosion, Squad, explosion_of};
pub use ledger::{Ledger, held, largest, refusing};
pub use stack::on_a_small_stack;

#[global_allocator]
static LEDGER: Ledger = Ledger;
