//! A thread begins a job that it has found: with nothing beneath, or in the middle of another one.

use std::process;

use crate::job::Name;
use crate::search::Found;
use crate::worker::Worker;

/// The bytes that are left of a stack when it is full: enough to say so.
const KEPT_STACK: usize = 64 << 10;

impl Worker {
    /// Runs a job, if there is one, where nothing waits.
    pub(crate) fn run(&self, found: Option<Found>) -> bool {
        found.map(|found| self.begin(found)).is_some()
    }

    /// Runs a job in the middle of what this thread runs.
    #[inline(always)]
    pub(crate) fn run_on_top(&self, found: Found) {
        if self.is_stack_full() {
            self.run_out_of_stack(found.job.name());
        }
        self.begin(found);
    }

    /// Runs it. If as many jobs stand on this stack now as may, only parts of it come on top of it.
    fn begin(&self, found: Found) {
        let outer = self.nested.get();
        // In an isolated region it is a part of what the thread waits for. The parts of what is no
        // job, of a caller's own code, are one.
        let nested = (outer + u32::from(!self.is_isolated())).max(1);
        self.nested.set(nested);
        self.owner.stack.begin(found.job.name());
        match found.is_isolated || nested >= self.shared.nested_jobs {
            true => self.isolate(|worker| found.job.run(worker)),
            false => found.job.run(self),
        }
        self.owner.stack.end();
        self.nested.set(outer);
    }

    /// Takes note of a stack of `bytes`, of which the calling thread has used little.
    #[cfg(not(all(loom, feature = "loom")))] // where threads have no stacks of their own
    pub(crate) fn has_stack(&self, bytes: usize) {
        let kept = (bytes / 8).min(KEPT_STACK);
        let floor = stack_pointer().saturating_sub(bytes - kept);
        self.stack_floor.set(floor);
    }

    fn is_stack_full(&self) -> bool {
        // On another stack, to which the job has changed, this is far away from the floor.
        self.stack_floor.get().wrapping_sub(stack_pointer()) < KEPT_STACK
    }

    /// Ends the program, as a stack that overflows does, and says what to do about it.
    #[cold]
    #[inline(never)]
    fn run_out_of_stack(&self, begun: &Name) -> ! {
        eprintln!(
            "the stack of thread {} of a fork-join pool is full: {} jobs are on it, each in a wait \
             of the one below. The program ends. A larger `stack_size` has room for more of them, \
             and `Config::nested_jobs` lets fewer begin. The next one was {}",
            self.index(),
            self.nested.get(),
            begun.get(),
        );
        process::abort()
    }
}

/// The address down to which the calling thread has used its stack.
#[inline(never)] // the local is in no frame that stays
fn stack_pointer() -> usize {
    let local = 0_u8;
    (&raw const local).addr()
}
