use filch_processors::protocol::{Crew, Hold, Turn, Work};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use loom_tests::Crossing;

/// Processors in a model, at most.
const PLACES: usize = 3;

/// A pool reduced to how its processors change hands.
pub(crate) struct Pool {
    pub(crate) crew: Crew,
    pub(crate) queues: Queues,
    crossing: Crossing,
    /// What only the holder of a processor may touch: how often it was held.
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

    fn evacuate(&self, hold: &Hold) -> bool {
        let tasks = self.deques[hold.processor()].swap(0, Ordering::Release);
        self.global.fetch_add(tasks, Ordering::Relaxed);
        tasks > 0
    }
}

impl Pool {
    /// With so many processors, each held by the machine of the same number; their holds.
    pub(crate) fn new(processors: usize) -> (Arc<Self>, Vec<Hold>) {
        let pool = Self::unstarted(processors);
        let holds = (0..processors)
            .map(|processor| {
                assert!(pool.crew.grow(processor, |_| true));
                pool.told_to_run(processor)
            })
            .collect();
        (pool, holds)
    }

    /// With so many processors, all at rest.
    pub(crate) fn unstarted(processors: usize) -> Arc<Self> {
        Arc::new(Self {
            crew: Crew::new(PLACES, processors, 4, 2),
            queues: Queues {
                global: AtomicUsize::new(0),
                deques: std::array::from_fn(|_| AtomicUsize::new(0)),
            },
            crossing: Crossing::new(),
            owned: std::array::from_fn(|_| UnsafeCell::new(0)),
        })
    }

    /// Uses the processor, as only its holder may.
    pub(crate) fn uses(&self, hold: &Hold) {
        // SAFETY: only the holder gets here; loom reports it if there are two.
        self.owned[hold.processor()].with_mut(|times| unsafe { *times += 1 });
    }

    /// The machine's turn, which must be to run.
    pub(crate) fn told_to_run(&self, machine: usize) -> Hold {
        let turn = self.crew.turn(machine);
        let Some(Turn::Run(hold)) = turn else {
            panic!("machine {machine} is told {turn:?}")
        };
        self.uses(&hold);
        hold
    }

    /// The machine's turn to run, if it has been told so; also if it is to search, which ends then.
    pub(crate) fn awake(&self, machine: usize) -> Option<Hold> {
        match self.crew.turn(machine)? {
            Turn::Run(hold) => {
                self.uses(&hold);
                Some(hold)
            }
            Turn::Search(hold) => {
                self.uses(&hold);
                Some(hold)
            }
            Turn::Leave => None,
        }
    }

    /// What a producer outside does; whether it woke somebody.
    pub(crate) fn publish(&self) -> bool {
        self.crossing.pass();
        self.queues.global.fetch_add(1, Ordering::Relaxed);
        self.crew.wake_one()
    }

    /// The holder of a processor puts a task into its deque; whether it woke somebody.
    pub(crate) fn schedule(&self, hold: &Hold) -> bool {
        self.crossing.pass();
        self.uses(hold);
        let deque = &self.queues.deques[hold.processor()];
        deque.fetch_add(1, Ordering::Relaxed);
        self.crew
            .wake_one_beside(hold, || deque.load(Ordering::Relaxed) == 1)
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

    /// The processor goes idle, and `machine` waits with it.
    pub(crate) fn rest(&self, hold: Hold, machine: usize) {
        self.crossing.pass();
        self.uses(&hold);
        self.crew.rest(hold, machine, false, &self.queues);
    }

    /// `machine` goes into a blocking call. The machine that takes its place is a new one, if there
    /// is no spare.
    pub(crate) fn hand_off(&self, hold: Hold, machine: usize) {
        self.crossing.pass();
        self.uses(&hold);
        if self
            .crew
            .hand_off(hold, machine, |_| true, &self.queues)
            .is_err()
        {
            panic!("a thread could be had");
        }
    }

    /// `machine` is back. If it has to wait, it will be told.
    pub(crate) fn try_regain(&self, machine: usize) -> Option<Hold> {
        self.crossing.pass();
        let hold = self.crew.try_regain(machine)?;
        self.uses(&hold);
        Some(hold)
    }

    /// `machine` is back: with a processor that was idle, and would be told otherwise.
    pub(crate) fn back(&self, machine: usize) -> Hold {
        let parker = self.crew.enter(machine);
        let hold = self.crew.regain(machine, &parker);
        self.uses(&hold);
        hold
    }

    /// How often the processor has been used.
    pub(crate) fn times_used(&self, hold: &Hold) -> usize {
        // SAFETY: as in `uses`.
        self.owned[hold.processor()].with(|times| unsafe { *times })
    }

    /// Lets the other threads go first, in some execution.
    pub(crate) fn pass(&self) {
        self.crossing.pass();
    }

    /// The only task of the processor's own deque is taken, by its holder or by a thief.
    pub(crate) fn take_from(&self, processor: usize) {
        self.queues.deques[processor].store(0, Ordering::Release);
    }

    /// Somebody tells the pool to stop.
    pub(crate) fn stop(&self) {
        self.crossing.pass();
        self.crew.stop(&self.queues);
    }

    /// What somebody asks who wants to know.
    pub(crate) fn is_quiescent(&self) -> bool {
        /// Others may go on between the look at the word and that at the queues.
        struct Later<'pool>(&'pool Pool);

        impl Work for Later<'_> {
            fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool {
                self.0.pass();
                self.0.queues.exists_beside(watched)
            }

            fn evacuate(&self, hold: &Hold) -> bool {
                self.0.queues.evacuate(hold)
            }
        }

        self.crossing.pass();
        self.crew.is_quiescent(&Later(self))
    }
}
