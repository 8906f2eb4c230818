//! Where tasks wait, and the order in which a processor looks for one.

pub(crate) mod bound_tasks;
mod find_work;
pub(crate) mod local;
pub(crate) mod shared;
pub(crate) mod steal_policy;
pub(crate) mod task_queues;
mod watching;
