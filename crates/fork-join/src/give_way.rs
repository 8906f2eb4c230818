//! Calls of a job that waits for something else than a job: it blocks, or lets others run.

use crate::standing::Doing;
use crate::worker::Worker;

impl Worker {
    /// Runs `call`, which may block: other jobs go on meanwhile on another thread, if
    /// [there may be one](crate::Config::blocking_threads). See
    /// [`Processors::blocking`](filch_processors::Processors::blocking) for how, and what it costs.
    ///
    /// # Panics
    /// If `call` does.
    pub fn blocking<R>(&self, call: impl FnOnce() -> R) -> R {
        // It spares a thief the heavy fence. A fork in the call is told of all the same: the thread
        // that takes this one's place asks this deque, too, before it sleeps.
        self.share();
        let (mut call, mut result) = (Some(call), None);
        self.standing().set_doing(Doing::Blocks);
        self.host().block(&mut || {
            if let Some(call) = call.take() {
                result = Some(call());
            }
        });
        self.standing().set_doing(Doing::Runs);
        match result {
            Some(result) => result,
            None => unreachable!("it is called, or panics"),
        }
    }

    /// Runs a job that waits: of this worker's, of another one's, or from outside. Whether there
    /// was one. For a thread that waits for something else than a job, and asks again and again.
    pub fn yield_now(&self) -> bool {
        self.share();
        let found = self.find_allowed();
        found.map(|found| self.run_on_top(found)).is_some()
    }

    /// The same, but leaves others' jobs alone.
    pub fn yield_local(&self) -> bool {
        self.share();
        let own = match self.is_isolated() {
            true => self.find_in_region(),
            false => self.find_own().or_else(|| self.steal_of(self.index())),
        };
        own.map(|found| self.run_on_top(found)).is_some()
    }

    /// Whether jobs of this worker's wait: forked and not begun, or spawned.
    pub fn has_jobs(&self) -> bool {
        let seat = self.own_seat();
        !(self.forks().is_empty() && self.spawned().is_empty() && seat.own.is_empty())
    }
}
