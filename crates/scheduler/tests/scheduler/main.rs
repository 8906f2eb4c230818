//! The scheduler from the outside, through its public interface, on real threads.

mod blocking;
mod bound;
mod common;
mod dynamic;
mod fairness;
mod forgotten;
mod futures;
mod hooks;
mod hostile;
mod joining;
mod leaks;
mod lifecycle;
mod links;
mod monitors;
mod names;
mod nodes;
mod options;
mod refusals;
mod report;
mod shutdown;
mod stress;
mod terminate;
mod timer_races;
mod timers;
mod upgrade;
