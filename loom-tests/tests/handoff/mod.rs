//! Models of how processors change hands (`filch_processors::protocol`, the shipped `Coordinator`):
//! blocking calls, guests, resizes, the end, bound machines, watching, and quiescence.
//!
//! The queues are relaxed counters, weaker than the real ones: all ordering has to come from the
//! protocol. A thread that gets a processor's permit writes to a cell of that processor, so that
//! loom sees two holders at once, or one that has not synchronised with the last. Machines do not
//! sleep here: what they are told is looked up when all threads have ended, so that a forgotten
//! machine is seen by looking, without a deadlock.

mod bound;
mod bound_ends;
mod calls;
mod counts;
mod end;
mod guests;
mod long_turns;
mod pool;
mod quiescence;
mod refused;
mod resize;
mod watch;
mod yielded;
