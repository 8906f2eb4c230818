//! Another number of processors, while tasks run.

use crate::pool::config::PoolError;
use crate::pool::processors::Processors;

impl<T: Send + 'static> Processors<T> {
    /// Changes the number of processors, and returns the number that there were. From any thread,
    /// also from a task. Blocking, but not for any task: one resize at a time.
    ///
    /// New processors run when there is something for them to do. Of those that are too many, idle
    /// ones are given up at once, and running ones when their current task ends, or its next
    /// [`blocking`](Self::blocking) call begins. What was left in their deques goes to the end of
    /// the global queue. Nothing runnable is lost, and nothing stops meanwhile. If it grows from
    /// one processor, a task that was scheduled just then by a running task may not wake a new
    /// processor before that one ends.
    ///
    /// # Errors
    /// [`PoolError`], but no thread is refused here. The number is unchanged, unless the limit of threads is reached: then
    /// it is as large as possible.
    pub fn resize(&self, count: usize) -> Result<usize, PoolError> {
        let max = self.max_count();
        if count == 0 {
            return Err(PoolError::NoProcessors);
        }
        if count > max {
            return Err(PoolError::TooManyProcessors { asked: count, max });
        }
        let _one_at_a_time = self.lock_running()?;
        let before = self.count();
        self.shared.queues.reach(count);
        for processor in before..count {
            if !self.shared.coordinator.grow(processor, &self.shared.queues) {
                return Err(match self.shared.coordinator.is_over() {
                    true => PoolError::Stopped,
                    false => PoolError::Threads { reached: processor },
                });
            }
        }
        if count < before {
            self.shared.coordinator.shrink(count, &self.shared.queues);
        }
        Ok(before)
    }
}
