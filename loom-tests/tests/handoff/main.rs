//! Models of how processors change hands (`filch_processors::protocol`, the shipped `Crew`):
//! blocking calls, resizes, the end, bound machines, and quiescence.
//!
//! The queues are relaxed counters, weaker than the real ones: all ordering has to come from the
//! protocol. Whoever gets a processor's hold writes to a cell of that processor, so that loom sees
//! two holders at once, or one who has not synchronised with the last. Machines do not sleep here:
//! what they are told is looked up when all threads have ended, so that one who was forgotten is
//! seen by looking, without a deadlock.
#![cfg(loom)]

mod bound;
mod bound_ends;
mod calls;
mod counts;
mod end;
mod pool;
mod quiescence;
mod resize;
mod vigil;
