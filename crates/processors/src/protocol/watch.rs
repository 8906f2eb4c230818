//! Watching: a machine that has seen a processor come for its only task by itself, over and over,
//! leaves the task there and sleeps, but looks again after an interval. The argument is in
//! [`architecture`](crate::architecture).

use std::time::Instant;

use filch_parker::Parker;
use filch_sync::atomic::{Ordering, fence};

use crate::protocol::state::coordinator::{Coordinator, Work};
use crate::protocol::state::grant::Grant;

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
    use crate::protocol::state::grant::Grant;
    use crate::protocol::state::permit::Permit;

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
