//! A processor goes idle: the second look at everything that might want it, and the watch that its
//! machine keeps meanwhile. The arguments are in [`architecture`](crate::architecture).

use std::time::Instant;

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};
use filch_sync::hint;

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::{Grant, Permit};

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

    /// Puts a missing processor back on the stack, if there is one: the next grant tries again to
    /// start a thread for it.
    pub fn restore_missing(&self, work: &impl Work) {
        // ORDERING: Relaxed: a hint. A processor that is overlooked is restored the next time.
        if self.activated.load(Ordering::Relaxed) >= self.control_word().active() {
            return;
        }
        let mut synced = self.synced();
        if synced.missing == 0 || synced.over {
            return;
        }
        let Some(machine) = self.substitute(&mut synced) else {
            return;
        };
        let Some(permit) = self.take_missing(&mut synced) else {
            return self.become_spare(machine, &mut synced);
        };
        drop(synced);
        self.go_idle(permit, machine, false, work);
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

/// Watching: a machine that has seen a processor come for its only task by itself, over and over,
/// leaves the task there and sleeps, but looks again after an interval.
impl Coordinator {
    /// Begins a watch of the processor by `machine`, which searches: until it
    /// [ends](Self::end_watches) this, the only task in that processor's deque wakes no machine.
    /// False if another machine watches it already.
    pub fn try_watch(&self, processor: usize, machine: usize) -> bool {
        let watcher = machine as u32 + 1;
        // ORDERING: Relaxed: it promises something, and publishes nothing. What counts is its end:
        // see `end_watches`.
        self.watchers[processor]
            .compare_exchange(0, watcher, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The machine that watches the processor, for people.
    pub(crate) fn watcher(&self, processor: usize) -> Option<usize> {
        // ORDERING: Relaxed: for people.
        let watcher = self.watchers[processor].load(Ordering::Relaxed);
        (watcher as usize).checked_sub(1)
    }

    /// Ends the watch of these processors: looks at all queues, and wakes one for what lies there.
    pub fn end_watches(&self, processors: impl IntoIterator<Item = usize>, work: &impl Work) {
        for processor in processors {
            // ORDERING: Relaxed: by the fence.
            self.watchers[processor].store(0, Ordering::Relaxed);
        }
        // ORDERING: partner of the fences in `processor_to_wake` and `go_idle`. Either the thread
        // that has left a task to the watcher sees that the watch is over, or we see the task.
        fence(Ordering::SeqCst);
        if self.exists_unwatched(work, None) {
            self.wake_one();
        }
    }

    /// Blocks until the machine is told what to do next, or until the deadline.
    pub(crate) fn wait_until(
        &self,
        machine: usize,
        parker: &Parker,
        deadline: Instant,
    ) -> Option<Grant> {
        loop {
            if let Some(grant) = self.take_grant(machine) {
                return Some(grant);
            }
            if !parker.park_deadline(deadline) {
                return self.take_grant(machine);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::protocol::state::coordinator::{Coordinator, Work};
    use crate::protocol::state::grant::{Grant, Permit};

    struct Nothing;

    impl Work for Nothing {
        fn exists_beside(&self, _watched: impl Fn(usize) -> bool) -> bool {
            false
        }

        fn evacuate(&self, _permit: &Permit) -> bool {
            false
        }
    }

    #[test]
    fn a_wait_ends_with_a_grant_or_at_its_deadline() {
        let coordinator = Coordinator::new(1, 1, 1, 0);
        let place = coordinator.place(&mut coordinator.synced()).unwrap();
        coordinator.machine(place).expect_thread();
        coordinator
            .start_thread(place, coordinator.synced())
            .unwrap();
        let permit = coordinator.activate(0, &mut coordinator.synced()).unwrap();
        coordinator.grant(place, Grant::Run(permit));
        let parker = coordinator.enter(0);
        let grant = coordinator.wait_until(0, &parker, Instant::now());
        let grant = grant.expect("it was there before");
        assert!(matches!(grant, Grant::Run(_)));
        // One that is found without parking leaves its token.
        coordinator.grant(0, grant);
        assert!(coordinator.take_grant(0).is_some());
        let deadline = Instant::now() + Duration::from_millis(1);
        assert_eq!(coordinator.wait_until(0, &parker, deadline), None);
        assert!(Instant::now() >= deadline, "an old token is no reason");
    }

    /// A failure: the dump names a machine that has come too late, or was there before.
    #[test]
    fn one_machine_watches_and_is_known() {
        let coordinator = Coordinator::new(1, 1, 1, 0);
        assert!(coordinator.watcher(0).is_none() && !coordinator.is_watched(0));
        for watcher in [0, 7] {
            assert!(coordinator.try_watch(0, watcher));
            assert!(!coordinator.try_watch(0, 3), "one is enough");
            assert_eq!(coordinator.watcher(0), Some(watcher));
            coordinator.end_watches([0], &Nothing);
            assert!(coordinator.watcher(0).is_none() && !coordinator.is_watched(0));
        }
    }
}
