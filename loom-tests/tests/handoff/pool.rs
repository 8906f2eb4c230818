//! A pool as the models see it: the shipped protocol over counted tasks.

use filch_models::Crossing;
use filch_processors::NeverQuiescent;
use filch_processors::protocol::{Coordinator, Grant, Permit, Work};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;

/// Processors in a model, at most.
const PLACES: usize = 3;

/// A pool reduced to the change of its processors from hand to hand.
pub(crate) struct Pool {
    pub(crate) coordinator: Coordinator,
    pub(crate) queues: Queues,
    crossing: Crossing,
    /// The uses of each processor, which only the thread with its permit may touch.
    owned: [UnsafeCell<usize>; PLACES],
}

/// Tasks are counted, and have no order. Taking one is a Release, as `Work` wants it; all else is
/// relaxed.
pub(crate) struct Queues {
    pub(crate) global: AtomicUsize,
    pub(crate) deques: [AtomicUsize; PLACES],
}

// SAFETY: the cells are what the models are about: loom checks that their accesses are ordered.
unsafe impl Sync for Pool {}
// SAFETY: as above.
unsafe impl Send for Pool {}

impl Work for Queues {
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
        let counts = |(processor, deque): (usize, &AtomicUsize)| {
            let tasks = deque.load(Ordering::Relaxed);
            tasks > 1 || (tasks == 1 && !watched(processor))
        };
        self.global.load(Ordering::Relaxed) > 0 || self.deques.iter().enumerate().any(counts)
    }

    fn evacuate(&self, permit: &Permit) -> bool {
        let tasks = self.deques[permit.processor()].swap(0, Ordering::Release);
        self.global.fetch_add(tasks, Ordering::Relaxed);
        tasks > 0
    }
}

impl Pool {
    /// Makes a pool of `N` processors, each used by the machine of its number; returns their
    /// permits.
    pub(crate) fn new<const N: usize>() -> (Arc<Self>, [Permit; N]) {
        let pool = Self::unstarted(N);
        pool.coordinator.start(N, N, &pool.queues).unwrap();
        let permits = std::array::from_fn(|processor| {
            let (permit, machine) = pool.coordinator.take_idle().expect("it is idle");
            assert_eq!((permit.processor(), machine), (processor, processor));
            pool.uses(&permit);
            permit
        });
        (pool, permits)
    }

    /// Makes a pool of `N` processors that are idle, the last one on top: with each sleeps the
    /// machine of its number.
    pub(crate) fn idle<const N: usize>() -> Arc<Self> {
        let (pool, permits) = Self::new::<N>();
        for (machine, permit) in permits.into_iter().enumerate() {
            pool.go_idle(permit, machine);
        }
        pool
    }

    /// Makes a pool of that many processors, all inactive.
    pub(crate) fn unstarted(processors: usize) -> Arc<Self> {
        Arc::new(Self {
            coordinator: Coordinator::new(PLACES, processors, 4, 2),
            queues: Queues {
                global: AtomicUsize::new(0),
                deques: std::array::from_fn(|_| AtomicUsize::new(0)),
            },
            crossing: Crossing::new(),
            owned: std::array::from_fn(|_| UnsafeCell::new(0)),
        })
    }

    /// Uses the processor, as only the thread with its permit may.
    pub(crate) fn uses(&self, permit: &Permit) {
        // SAFETY: only the thread with the permit gets here; loom reports it if there are two.
        self.owned[permit.processor()].with_mut(|times| unsafe { *times += 1 });
    }

    /// Takes the machine's grant, which must be to run.
    pub(crate) fn told_to_run(&self, machine: usize) -> Permit {
        let grant = self.coordinator.take_grant(machine);
        let Some(Grant::Run(permit)) = grant else {
            panic!("machine {machine} is told {grant:?}")
        };
        self.uses(&permit);
        permit
    }

    /// Takes the permit that the machine was granted, if it was: to run, or to search, which ends.
    pub(crate) fn awake(&self, machine: usize) -> Option<Permit> {
        let (Grant::Run(permit) | Grant::Search(permit)) = self.coordinator.take_grant(machine)?
        else {
            return None;
        };
        self.uses(&permit);
        Some(permit)
    }

    /// Asserts that the first machine is awake, or its processor would sleep beside a task.
    #[track_caller]
    pub(crate) fn assert_first_is_awake(&self) {
        assert!(
            self.awake(0).is_some(),
            "a task is there, and its processor sleeps"
        );
    }

    /// Retires the machine, whose processor is surplus, if it was woken; returns whether it was.
    pub(crate) fn retires_if_awake(&self, machine: usize) -> bool {
        let Some(permit) = self.awake(machine) else {
            return false;
        };
        self.coordinator.stop_searching(&self.queues);
        self.coordinator
            .retire(permit, machine, &self.queues)
            .unwrap();
        true
    }

    /// Publishes a task, as a producer outside does; returns whether it woke a machine.
    pub(crate) fn publish(&self) -> bool {
        self.crossing.pass();
        self.queues.global.fetch_add(1, Ordering::Relaxed);
        self.coordinator.wake_one()
    }

    /// Puts a task into the deque, with the permit; returns whether it woke a machine.
    pub(crate) fn schedule(&self, permit: &Permit) -> bool {
        self.crossing.pass();
        self.uses(permit);
        let deque = &self.queues.deques[permit.processor()];
        deque.fetch_add(1, Ordering::Relaxed);
        self.coordinator
            .wake_one_for_deque(permit.processor(), || deque.load(Ordering::Relaxed) == 1)
    }

    /// Takes a task of the global queue.
    pub(crate) fn take(&self) -> bool {
        self.queues
            .global
            .fetch_update(Ordering::Release, Ordering::Relaxed, |tasks| {
                tasks.checked_sub(1)
            })
            .is_ok()
    }

    /// Makes the processor idle; `machine` waits with it.
    pub(crate) fn go_idle(&self, permit: Permit, machine: usize) {
        self.crossing.pass();
        self.uses(&permit);
        self.coordinator
            .go_idle(permit, machine, false, &self.queues);
    }

    /// Blocks `machine` in a call. The machine that takes its place is a new one, if there is no
    /// spare.
    pub(crate) fn hand_off(&self, permit: Permit, machine: usize) {
        self.crossing.pass();
        self.uses(&permit);
        if self
            .coordinator
            .hand_off(permit, machine, &self.queues)
            .is_err()
        {
            panic!("a thread could be had");
        }
    }

    /// Brings `machine` back. If it has to wait, it will be told.
    pub(crate) fn try_regain(&self, machine: usize) -> Option<Permit> {
        self.crossing.pass();
        let permit = self.coordinator.try_regain(machine)?;
        self.uses(&permit);
        Some(permit)
    }

    /// Brings `machine` back with a processor that was idle; it would be told otherwise.
    pub(crate) fn back(&self, machine: usize) -> Permit {
        let parker = self.coordinator.enter(machine);
        let permit = self.coordinator.regain(machine, &parker);
        self.uses(&permit);
        permit
    }

    /// Returns the number of times that the processor was used.
    pub(crate) fn times_used(&self, permit: &Permit) -> usize {
        // SAFETY: as in `uses`.
        self.owned[permit.processor()].with(|times| unsafe { *times })
    }

    /// Lets the other threads go first, in some execution.
    pub(crate) fn pass(&self) {
        self.crossing.pass();
    }

    /// Takes the only task of the processor's deque, as its machine or a thief.
    pub(crate) fn take_from(&self, processor: usize) {
        self.queues.deques[processor].store(0, Ordering::Release);
    }

    /// Tells the pool to stop.
    pub(crate) fn stop(&self) {
        self.crossing.pass();
        self.coordinator.stop(&self.queues);
    }

    /// Waits as an observer does.
    pub(crate) fn await_quiescence(&self) -> Result<bool, NeverQuiescent> {
        self.coordinator.await_quiescence_until(&self.queues, None)
    }

    /// Asks as an observer does.
    pub(crate) fn is_quiescent(&self) -> bool {
        /// Other threads may go on between the look at the word and that at the queues.
        struct Later<'pool>(&'pool Pool);

        impl Work for Later<'_> {
            fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
                self.0.pass();
                self.0.queues.exists_beside(watched)
            }

            fn evacuate(&self, permit: &Permit) -> bool {
                self.0.queues.evacuate(permit)
            }
        }

        self.crossing.pass();
        self.coordinator.is_quiescent(&Later(self))
    }
}
