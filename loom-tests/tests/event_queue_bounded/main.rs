//! The bounded event queue, with rings of one to three slots, so that a handful of pushes fills
//! them and goes round.
//!
//! Payloads that are loom `Arc`s make loom itself report an event that is leaked, or dropped twice.
//! Each model drops its queue, whose destructor requires that every claimed slot is full.
#![cfg(loom)]

mod closing;
mod full;
mod order;
mod queue;
mod reuse;
