//! Waiting for a task from outside, and running it oneself if a processor is idle.

use filch_sync::lock;

use crate::pool::processors::Processors;
use crate::protocol::state::grant::task_label;
use crate::thread::guest::{Awaited, Visit};

impl<T: Send + 'static> Processors<T> {
    /// Makes `task` runnable, as [`wake`](Self::wake) does, for a thread that waits for
    /// what comes of it, and would otherwise sleep: if the thread is none of a pool's, and a
    /// processor is idle, it runs the task here and now, as a *guest* of that processor. Returns
    /// when that is done; that the wait is over is for the caller to find out.
    ///
    /// No thread is woken for it. The guest runs what `awaited` says is the task, again if that is
    /// what comes next on the processor, until the wait is over; and nothing else. What the task
    /// makes runnable is for the other threads.
    ///
    /// The task runs on the caller's stack, beside the caller's thread-local values, and as long
    /// as it takes; a panic is contained, as on every thread of the pool. In a
    /// [`blocking`](Self::blocking) call it gives the processor to the pool's thread that sleeps
    /// beside it. A pool with a [source](crate::Source) has no guests.
    ///
    /// Lock-free, but for a lock that a start of a thread takes for a moment, and for what the task
    /// does. What the caller did before happens before the task runs.
    pub fn run_awaited(&self, task: T, awaited: &dyn Awaited<T>) {
        match self.begin_visit() {
            Some(visit) => self.receive(visit, task, awaited),
            None => self.wake(task),
        }
    }

    /// For a thread that is about to wait for a task which it has made runnable before: runs that,
    /// as [`run_awaited`](Self::run_awaited) does, if it is what comes next in the global queue and
    /// a processor is idle. Costs two loads if the queue is empty.
    pub fn help(&self, awaited: &dyn Awaited<T>) {
        let global = &self.shared.queues.global;
        if global.is_empty() {
            return;
        }
        let Some(visit) = self.begin_visit() else {
            return;
        };
        match global.pop_new_first() {
            Some(task) if awaited.is(&task) => self.receive(visit, task, awaited),
            // Another one's comes next: it does, on this processor.
            other => visit.end(other, &self.shared),
        }
    }

    /// What a guest runs on the processor, for people.
    pub(crate) fn task_of_guest(&self, processor: usize) -> Option<String> {
        let shown = self.shared.queues.processors[processor].guest.get();
        let label = task_label(shown);
        let runner = lock(&self.runner);
        let task = label.and_then(|label| Some(runner.as_ref()?.describe(label)));
        (shown != 0).then(|| task.unwrap_or_else(|| "a task".to_owned()))
    }

    fn begin_visit(&self) -> Option<Visit> {
        let may_visit = self.config.guests && self.config.stack_size.is_none();
        may_visit.then(|| Visit::begin(&self.shared)).flatten()
    }

    fn receive(&self, visit: Visit, task: T, awaited: &dyn Awaited<T>) {
        let runner = lock(&self.runner).clone();
        let (visit, left) = match runner {
            Some(runner) => runner.run_visit(visit, task, awaited),
            None => unreachable!("a pool with an idle processor runs, and knows its runner"),
        };
        visit.end(left, &self.shared);
    }
}
