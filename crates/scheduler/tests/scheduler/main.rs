//! The scheduler from the outside, through its public interface, on real threads.

mod common;
mod fairness;
mod hooks;
mod hostile;
mod leaks;
mod lifecycle;
mod links;
mod monitors;
mod options;
mod refusals;
mod report;
mod shutdown;
mod stress;
mod terminate;
mod upgrade;
