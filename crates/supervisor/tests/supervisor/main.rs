//! Supervisors on a scheduler, with a clock that the tests move.

mod backoff;
mod common;
mod dynamic;
mod ends;
mod hostile;
mod intensity;
mod names;
mod nested;
mod requests;
mod shutdown;
mod start_limits;
mod starts;
mod strategies;
