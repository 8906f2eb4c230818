//! A thread begins a job that it has found: with nothing beneath, or in the middle of another one.

use crate::found::Found;
use crate::job::Runs;
use crate::reentry::Reentry;
use crate::standing::Doing;
use crate::worker::Worker;

impl Worker {
    /// Runs a job, if there is one, where nothing waits.
    pub(crate) fn run(&self, found: Option<Found<Self>>) -> bool {
        found.map(|found| self.begin(found)).is_some()
    }

    /// Runs a job, if there is one, in the middle of what this thread runs.
    pub(crate) fn run_on_top(&self, found: Option<Found<Self>>) -> bool {
        let Some(found) = found else {
            return false;
        };
        if found.is_part {
            self.begin(found);
            return true;
        }
        if self.host().hears_reentries() {
            self.tell_reentry(&found);
        }
        let outer = self.nest().enter(self.forked_index(), self.base.get());
        self.begin(found);
        self.nest().restore(outer);
        true
    }

    /// Runs it. If as many jobs stand on this stack now as may, only parts of it come on top of it.
    fn begin(&self, found: Found<Self>) {
        let Found {
            job,
            is_isolated,
            is_part,
            forked_at: _,
        } = found;
        let outer = self.nested.get();
        // The parts of what is no job, of a caller's own code, are one.
        let nested = (outer + u32::from(!is_part)).max(1);
        self.nested.set(nested);
        let base = self.base.replace(Some(self.forked_index()));
        self.standing().begin(job.name());
        self.standing().set_doing(Doing::Runs);
        match is_isolated || nested >= self.shared().nested_jobs() {
            true => self.isolate(|worker| job.run(worker)),
            false => job.run(self),
        }
        self.standing().end();
        self.base.set(base);
        self.nested.set(outer);
    }

    fn forked_index(&self) -> u32 {
        self.forks().position() as u32
    }

    #[cold]
    fn tell_reentry(&self, found: &Found<Self>) {
        self.host().tell_reentry(&Reentry {
            thread: self.index(),
            waiting: self.standing().innermost(),
            begun: found.job.name().get(),
        });
    }
}
