//! Vigils: who has seen that a processor comes for its only task by itself, over and over, leaves
//! it there and sleeps, but looks again after a nap. The argument is in
//! [`architecture`](crate::architecture).

use std::fmt;
use std::time::Instant;

use filch_deque::Sole;
use filch_parker::Parker;
use filch_sync::atomic::{AtomicU32, Ordering, fence};
use filch_sync::hint;

use crate::Processors;
use crate::crew::{Crew, Turn, Work};
use crate::hold::Hold;
use crate::machine::DISCRETION;

/// Tasks that a processor must have run, while a search left what it has, to be trusted to come for
/// the next one as well.
const QUICK: u64 = 4;

/// For each processor, the number of the machine that keeps vigil over it plus one, or zero.
pub(crate) struct Vigils(Box<[AtomicU32]>);

impl Vigils {
    pub(crate) fn new(processors: usize) -> Self {
        Self((0..processors).map(|_| AtomicU32::new(0)).collect())
    }
}

/// A processor whose only task was left to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) victim: usize,
    /// The last one.
    pub(crate) sole: Sole,
    /// How many tasks it had run when the first one was left, or at the last look of the vigil.
    pub(crate) run: u64,
    /// Whether the machine that has left it keeps vigil.
    pub(crate) vigil: bool,
}

impl Left {
    /// Whether the processor has run as many tasks since the first was left that its next one can
    /// be left to it for a nap.
    pub(crate) fn is_quick(&self, run: u64) -> bool {
        run.wrapping_sub(self.run) >= QUICK
    }

    /// After a nap: whether the processor has run nothing since, or has a task and does not come
    /// for it.
    fn stands_still<T: Send + 'static>(&mut self, pool: &Processors<T>) -> bool {
        let victim = &pool.queues.processors[self.victim];
        let run = victim.counters.run.get();
        if run == std::mem::replace(&mut self.run, run) {
            return true;
        }
        let sole = victim.stealer.sole();
        sole.is_some() && {
            hint::pause(DISCRETION);
            victim.stealer.sole() == sole
        }
    }
}

impl Crew {
    /// `machine`, which searches, is going to keep vigil over the processor: from now on, until it
    /// [ends](Self::end_vigils) this, the only task in that processor's deque wakes nobody. Whether
    /// nobody else does.
    pub fn keep_vigil(&self, processor: usize, machine: usize) -> bool {
        let keeper = machine as u32 + 1;
        // ORDERING: Relaxed: it promises something, and publishes nothing. What counts is its end:
        // see `end_vigils`.
        self.vigils.0[processor]
            .compare_exchange(0, keeper, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether somebody keeps vigil over the processor.
    #[inline]
    pub fn is_watched(&self, processor: usize) -> bool {
        // ORDERING: Relaxed: who relies on it has published, or gone idle, and passed a fence: see
        // `end_vigils`.
        self.vigils.0[processor].load(Ordering::Relaxed) != 0
    }

    /// The machine that keeps vigil over the processor, for people.
    pub(crate) fn keeper(&self, processor: usize) -> Option<usize> {
        // ORDERING: Relaxed: for people.
        let keeper = self.vigils.0[processor].load(Ordering::Relaxed);
        (keeper as usize).checked_sub(1)
    }

    /// A machine that counts as searching will not keep these vigils after all. Its search goes on,
    /// or ends as any does.
    pub fn drop_vigils(&self, processors: impl IntoIterator<Item = usize>) {
        for processor in processors {
            // ORDERING: Relaxed: released with the count of those who search, by the end of the
            // search.
            self.vigils.0[processor].store(0, Ordering::Relaxed);
        }
    }

    /// These vigils are over: looks at all queues, and wakes one for what lies there.
    pub fn end_vigils(&self, processors: impl IntoIterator<Item = usize>, work: &impl Work) {
        self.drop_vigils(processors);
        // ORDERING: partner of the fences in `processor_to_wake` and `go_idle`. Either who has left
        // a task to the vigil sees that it is over, or we see the task.
        fence(Ordering::SeqCst);
        if self.exists_unwatched(work, None) {
            self.wake_one();
        }
    }

    /// Whether there is a task that somebody must be awake for: any, except for the only one of a
    /// watched processor that is not going `idle` itself.
    pub(crate) fn exists_unwatched(&self, work: &impl Work, idle: Option<usize>) -> bool {
        work.exists_beside(|processor| Some(processor) != idle && self.is_watched(processor))
    }

    /// The holder of the processor has put a task into its deque: wakes a processor for it, if one
    /// is idle and none is searching. Not if it is the only one there, and somebody keeps vigil.
    #[inline]
    pub fn wake_one_beside(&self, hold: &Hold, is_sole: impl FnOnce() -> bool) -> bool {
        let processor = hold.processor();
        self.wake_one_unless(|| self.is_watched(processor) && is_sole())
    }

    /// Blocks until the machine is told what to do next, or until the deadline.
    fn wait_until(&self, machine: usize, parker: &Parker, deadline: Instant) -> Option<Turn> {
        loop {
            if let Some(turn) = self.turn(machine) {
                return Some(turn);
            }
            if !parker.park_deadline(deadline) {
                return self.turn(machine);
            }
        }
    }
}

impl<T: Send + 'static> Processors<T> {
    /// `machine`, which has gone idle or is going to be told something else, sleeps in naps as long
    /// as the processors over which it keeps vigil run one task after the other. What it is told to
    /// do next, if it has been told.
    pub(crate) fn nap(
        &self,
        machine: usize,
        parker: &Parker,
        mut vigils: Vec<Left>,
    ) -> Option<Turn> {
        let turn = loop {
            let deadline = Instant::now() + self.config().nap;
            let turn = self.crew.wait_until(machine, parker, deadline);
            if turn.is_some()
                || self.crew.idle.is_nobody_idle()
                || vigils.iter_mut().any(|left| left.stands_still(self))
            {
                break turn;
            }
        };
        let watched = vigils.iter().map(|left| left.victim);
        self.crew.end_vigils(watched, &self.queues);
        turn
    }
}

impl fmt::Debug for Vigils {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use crate::crew::Crew;
    use crate::{Config, Processors, Runner};

    /// Runs a task by scheduling the next, until it is over.
    struct Chain {
        pool: Arc<Processors<()>>,
        over: AtomicBool,
    }

    impl Runner<()> for Chain {
        type Scratch = ();

        fn scratch(&self, _machine: usize) {}

        fn run(&self, (): (), (): &mut ()) {
            if !self.over.load(Ordering::Relaxed) {
                self.pool.schedule(());
            }
        }
    }

    /// A failure: the dump names one who has come too late, or was there before.
    #[test]
    fn one_keeps_vigil_and_is_known() {
        let crew = Crew::new(1, 1, 1, 0);
        assert!(crew.keeper(0).is_none() && !crew.is_watched(0));
        for keeper in [0, 7] {
            assert!(crew.keep_vigil(0, keeper));
            assert!(!crew.keep_vigil(0, 3), "one is enough");
            assert_eq!(crew.keeper(0), Some(keeper));
            crew.drop_vigils([0]);
            assert!(crew.keeper(0).is_none() && !crew.is_watched(0));
        }
    }

    /// A failure: it hangs, because nobody is shown to keep vigil, or because a machine goes on
    /// napping beside an idle processor.
    #[test]
    fn a_vigil_is_shown_and_ends_when_nothing_runs() {
        let pool = Processors::new(Config::default().processors(2)).unwrap();
        let chain = Arc::new(Chain {
            pool: Arc::clone(&pool),
            over: AtomicBool::new(false),
        });
        let machines = Processors::start(&pool, Arc::clone(&chain)).unwrap();
        pool.inject(());
        let shown = |dump: &str| {
            dump.contains("held by filch-0, over which filch-1 keeps vigil")
                || dump.contains("held by filch-1, over which filch-0 keeps vigil")
        };
        while !shown(&pool.dump().to_string()) {
            thread::yield_now();
        }
        chain.over.store(true, Ordering::Relaxed);
        while (0..2).any(|processor| pool.crew.is_watched(processor)) {
            thread::yield_now();
        }
        pool.wait_quiescent().unwrap();
        pool.stop();
        machines.join();
    }
}
