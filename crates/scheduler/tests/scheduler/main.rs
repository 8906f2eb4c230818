//! The scheduler from the outside, through its public interface, on real threads.

mod blocking;
mod common;
mod dynamic;
mod fairness;
mod futures;
mod hostile;
mod joining;
mod leaks;
mod lifecycle;
mod names;
mod nodes;
mod refusals;
mod shutdown;
mod stress;
mod timers;
