//! What users' types and a short memory may do to filch.
//!
//! A [`Bomb`] is a value whose destructor may panic; a [`Squad`] makes bombs and knows which of
//! them were dropped. The allocator of every program that uses this package is [`Ledger`]: it
//! counts what the calling thread has not given back, and refuses what that thread asks it to.
//! docs/correctness.md has the table of what each crate promises, and which test shows it.

mod bomb;
mod ledger;
mod stack;

pub use bomb::{Bomb, Explosion, Squad, explosion_of};
pub use ledger::{Ledger, held, largest, refusing};
pub use stack::on_a_small_stack;

#[global_allocator]
static LEDGER: Ledger = Ledger;
