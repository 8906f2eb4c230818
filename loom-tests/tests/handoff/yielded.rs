//! Tasks that have given way wait in a queue of their own, which the second look and quiescence
//! must see.

use filch_models::{Bound, beside};
use filch_processors::protocol::{Permit, Work};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};

use super::pool::Pool;

/// The queues of the pool, and the tasks that have given way.
struct Queues {
    pool: Arc<Pool>,
    yielded: AtomicUsize,
}

impl Work for Queues {
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.pool.queues.exists_beside(watched) || self.yielded.load(Ordering::Relaxed) > 0
    }

    fn evacuate(&self, permit: &Permit) -> bool {
        self.pool.queues.evacuate(permit)
    }
}

impl Queues {
    fn new<const N: usize>() -> (Arc<Self>, [Permit; N]) {
        let (pool, permits) = Pool::new();
        let yielded = AtomicUsize::new(0);
        (Arc::new(Self { pool, yielded }), permits)
    }

    /// Gives way with a task, as a worker or a thread outside does; returns whether it woke a
    /// machine.
    fn give_way(&self) -> bool {
        self.pool.pass();
        self.yielded.fetch_add(1, Ordering::Relaxed);
        self.pool.coordinator.wake_one()
    }

    fn take(&self) {
        let before = self.yielded.fetch_sub(1, Ordering::Release);
        assert_eq!(before, 1, "the task that gave way is there");
    }

    fn go_idle(&self, permit: Permit, machine: usize) {
        self.pool.pass();
        self.pool.uses(&permit);
        let coordinator = &self.pool.coordinator;
        coordinator.go_idle(permit, machine, false, self);
    }
}

/// Two processors. The task of the first one gives way, and the machine goes on with another one,
/// which may take for ever; the second one goes idle meanwhile. A failure: the task waits beside
/// its idle processor.
#[test]
fn a_sleeper_sees_a_task_that_gives_way() {
    Bound::exhaustive(100)
        .outcomes(
            "a task that gives way, and a sleeper: exactly one wake-up",
            || {
                let (queues, [running, idle]) = Queues::new();
                let sleeper = beside(&queues, |queues| queues.go_idle(idle, 1));
                queues.pool.uses(&running);
                let by_worker = queues.give_way();
                sleeper.join().unwrap();
                assert!(
                    queues.pool.awake(1).is_some(),
                    "a task has given way, and its processor sleeps"
                );
                drop(running);

                by_worker
            },
        )
        .assert_exactly([true, false]);
}

/// One processor, the last that is awake. It takes the task that gave way, which has another one
/// run from the global queue, and goes idle, as an observer asks: first it looks at the global
/// queue, then at those that have given way. Yes means that all has run.
#[test]
fn not_quiescent_while_a_task_changes_queues() {
    /// Other threads may go on between the looks at the two queues.
    struct Slow(Arc<Queues>);

    impl Work for Slow {
        fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
            let global = self.0.pool.queues.exists_beside(watched);
            self.0.pool.pass();
            global || self.0.yielded.load(Ordering::Relaxed) > 0
        }

        fn evacuate(&self, permit: &Permit) -> bool {
            self.0.evacuate(permit)
        }
    }

    Bound::exhaustive(30)
        .outcomes("quiescent: both queues were empty at one moment", || {
            let (queues, [permit]) = Queues::new();
            queues.give_way();
            let machine = beside(&queues, |queues| {
                queues.take();
                queues.pool.publish();
                assert!(queues.pool.take(), "the machine is the only one");
                queues.give_way();
                queues.take();
                queues.go_idle(permit, 0);
            });
            queues.pool.pass();
            let quiescent = queues.pool.coordinator.is_quiescent(&Slow(queues.clone()));
            if quiescent {
                let (permit, _) = queues.pool.coordinator.take_idle().expect("it is idle");
                queues.pool.uses(&permit);
                assert_eq!(queues.pool.times_used(&permit), 3, "it has not run yet");
            }
            machine.join().unwrap();
            quiescent
        })
        .assert_exactly([true, false]);
}

/// One processor, and the pool is stopped while a task that gives way comes from outside. A
/// failure: the machine is told to exit by a look that left it out.
#[test]
fn the_end_waits_for_what_gave_way_before() {
    Bound::exhaustive(2_000).check("what gave way before the stop is run", || {
        let (queues, [permit]) = Queues::new();
        let sleeper = beside(&queues, move |queues| queues.go_idle(permit, 0));
        queues.give_way();
        queues.pool.coordinator.stop(&*queues);
        sleeper.join().unwrap();
        assert!(!queues.pool.coordinator.is_over(), "a task is left");
        assert!(
            queues.pool.awake(0).is_some(),
            "a task is left, and it sleeps"
        );
    });
}

/// A processor whose task has given way, and was the only one: it keeps it, and wakes nobody. But
/// then it looks at the global queue first, as it does at times, and takes a newer task, which may
/// take for ever: so it wakes one for the task that it has kept. A second processor goes idle
/// meanwhile. A failure: the kept task waits beside it.
#[test]
fn a_task_that_was_kept_is_not_forgotten() {
    Bound::exhaustive(70)
        .outcomes(
            "a lone task that gave way runs next, or another processor is woken",
            || {
                let (pool, [running, idle]) = Pool::new();
                let others = beside(&pool, |pool| {
                    let woke = pool.publish();
                    pool.go_idle(idle, 1);
                    woke
                });
                pool.uses(&running);
                // Nothing was there: kept.
                pool.queues.deques[0].store(1, Ordering::Relaxed);
                let takes_another = pool.take();
                if takes_another {
                    let is_only = || pool.queues.deques[0].load(Ordering::Relaxed) == 1;
                    pool.coordinator.wake_one_for_deque(0, is_only);
                } else {
                    pool.take_from(0);
                }
                others.join().unwrap();
                assert!(
                    pool.awake(1).is_some(),
                    "a task is there, and a processor sleeps"
                );
                drop(running);

                takes_another
            },
        )
        .assert_exactly([true, false]);
}
