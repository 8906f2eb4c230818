//! The queues of tasks, and the order in which a processor looks for one.

pub(crate) mod bound_tasks;
pub(crate) mod fairness;
pub(crate) mod find_work;
pub(crate) mod source;
pub(crate) mod task_queues;
#[cfg(test)]
mod tests;
