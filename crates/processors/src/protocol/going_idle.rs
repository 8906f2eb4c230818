//! A processor goes idle: the second look at everything that might want it.

use filch_sync::atomic::{Ordering, fence};
use filch_sync::hint;

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::permit::Permit;

/// Pauses of a guest between two looks at the queues: some hundred nanoseconds, in which a machine
/// that has made a task runnable, and does nothing else, comes for it.
const PAUSES_BEFORE_WAKING: u32 = 64;

impl Coordinator {
    /// Makes the processor of `permit` idle, with `machine` waiting for it. The caller must not use
    /// it any more; if it is that machine, it must wait for its grant.
    pub fn go_idle(&self, permit: Permit, machine: usize, searching: bool, work: &impl Work) {
        let processor = self.push_idle(permit, machine, searching);
        // The second look: what was published before our name was on the list is ours to see. Being
        // on the list, we do not take it: we call for a searcher as a producer would, and are the
        // first to be called. For what is in our own deque no machine comes unasked any more,
        // watched or not.
        if self.exists_unwatched(work, Some(processor)) {
            self.wake_one();
        }
        self.serve_from_idle(processor, work);
    }

    /// Gives a guest's processor back to `lender`, who waits for it, as [`go_idle`](Self::go_idle)
    /// does; but a guest comes and goes often, and its second look is likely to see a task that
    /// some machine is just taking: so it wakes nobody before it has seen one twice. Until then it
    /// is on its way to wake one.
    pub fn give_back(&self, permit: Permit, lender: usize, work: &impl Work) {
        let processor = self.push_idle(permit, lender, false);
        let mut looks = (0..2).map(|look| {
            hint::pause(look * PAUSES_BEFORE_WAKING);
            self.exists_unwatched(work, Some(processor))
        });
        if looks.all(|exists| exists) {
            self.wake_one();
        }
        self.serve_from_idle(processor, work);
    }

    /// Puts the processor on the stack, and passes a fence.
    pub(crate) fn push_idle(&self, permit: Permit, machine: usize, searching: bool) -> usize {
        let processor = permit.into_number();
        self.attach(processor, machine);
        self.idle.go_idle(processor, searching);
        processor
    }

    /// Serves others that might want the processor, which is on the stack.
    fn serve_from_idle(&self, processor: usize, work: &impl Work) {
        // A thread that came back from a blocking call or resized the pool has written it into the
        // control word, passed a fence, and looked for idle processors: one of us sees the other.
        // (For one that has stopped the pool, see `announce_quiescence`.)
        let control = self.control_word();
        if control.is_surplus(processor) {
            self.sweep(work);
        }
        if control.waiting() > 0 {
            self.serve_waiters(&mut self.synced());
        }
        self.announce_quiescence(work);
    }

    /// Deactivates idle processors that are to be given up. For a moment the others are off the
    /// stack too: they go back as sleepers do, with a second look.
    pub(crate) fn sweep(&self, work: &impl Work) {
        let mut kept = Vec::new();
        let mut moved = false;
        {
            let mut synced = self.synced();
            while let Some((permit, machine)) = self.take_idle() {
                if self.control_word().is_surplus(permit.processor()) {
                    moved |= work.evacuate(&permit);
                    self.deactivate(permit, &mut synced);
                    self.become_spare(machine, &mut synced);
                } else {
                    kept.push((permit, machine));
                }
            }
        }
        while let Some((permit, machine)) = kept.pop() {
            self.go_idle(permit, machine, false, work);
        }
        if moved {
            // For a moment these tasks were in no queue.
            self.wake_one();
        }
        self.announce_quiescence(work);
    }

    /// Tells of quiescence, when a processor has gone idle, or has been given up: if it was the
    /// last one, and a thread wants to know, looks and tells; if the pool stops, ends it.
    pub(crate) fn announce_quiescence(&self, work: &impl Work) {
        // ORDERING: partner of the fences in `await_quiescence` and `stop`. Either we see the
        // observer, or it sees us idle, or our processor inactive. (Relaxed: the fence orders the
        // load.)
        fence(Ordering::SeqCst);
        if self.control_word().is_stopping() {
            self.try_end(work);
        }
        if self.observers.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        // The look is under the lock: it comes after the beginning of every wait that its result
        // ends.
        self.observers.report(|moments| {
            if self.is_quiescent(work) {
                moments.seen += 1;
            }
        });
    }
}
