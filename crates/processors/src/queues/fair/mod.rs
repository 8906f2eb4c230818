//! Turn-taking: at times a processor does not take the newest of its own tasks. Common tasks pass
//! one door, the clock's tick.

pub(crate) mod age_order;
pub(crate) mod fairness;
pub(crate) mod turn_clock;
