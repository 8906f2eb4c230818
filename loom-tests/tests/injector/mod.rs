//! Models of the injector: its items and its blocks.
//!
//! Blocks have one to three slots here, so that a handful of operations crosses and recycles
//! them, and abandons slots.

mod batches;
mod blocks;
mod delivery;
mod lives;
mod tracked;
