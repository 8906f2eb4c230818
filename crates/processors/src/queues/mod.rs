//! The queues of tasks, and the order in which a processor looks for one.

pub(crate) mod fairness;
pub(crate) mod find_work;
#[expect(
    unsafe_code,
    reason = "what an external task of another crate's work is, its maker knows"
)]
pub(crate) mod source;
pub(crate) mod task_queues;
#[cfg(test)]
mod tests;
