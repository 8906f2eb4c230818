//! The scheduler from the outside, through its public interface, on real threads.

mod abandoned;
mod backlog;
mod bound;
mod common;
mod errors;
mod fairness;
mod first_share;
mod forgotten;
mod hooks;
mod hostile;
mod joining;
mod last_owner;
mod leaks;
mod lifecycle;
mod links;
mod looked_ahead;
mod monitors;
mod options;
mod refusals;
mod report;
mod shutdown;
mod stress;
mod terminate;
mod under_fire;
mod upgrade;
