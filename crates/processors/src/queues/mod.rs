//! The queues of tasks, and the order in which a processor looks for one.

pub(crate) mod fairness;
mod find_work;
#[expect(
    unsafe_code,
    reason = "what a piece of another crate's work is, its maker knows"
)]
pub(crate) mod source;
pub(crate) mod steal_policy;
pub(crate) mod task_queues;
#[cfg(test)]
mod tests;
pub(crate) mod turn_clock;
