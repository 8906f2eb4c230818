//! The thread that looks after long turns, and how a thread makes way.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use filch_parker::Parker;
use filch_sync::Arc;

use crate::pool::current::{self, Current};
use crate::pool::processors::Processors;
use crate::protocol::state::grant::{A_PIECE, Activity};
use crate::protocol::{Grant, Permit};

/// The time from one look to the next. A turn that two looks have seen is long.
const TICK: Duration = Duration::from_millis(1);

/// The longest rest of a thread that has made way: about as long as its turn was before, since the
/// thread that looks may itself have to wait for a core.
const REST: Duration = Duration::from_millis(4);

/// A turn's identity: the processor's count of what it has run, its machine, and how often the
/// machine's activity has changed.
type Sighting = (u64, usize, u32);

/// The result of a look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Nothing long, and nothing that may become so.
    Quiet,
    Busy,
}

impl<T: Send + 'static> Processors<T> {
    /// Starts one more thread, which looks once a millisecond, as long as something is in the
    /// source or runs long, for threads that have been in the same task or piece since the last
    /// look while a task waits, or a thread that is back from a [`blocking`](Self::blocking) call.
    /// Such a thread is to [make way](Self::make_way), and the source is
    /// [told](crate::Source::hurry). The thread ends with the pool. Blocks while it is started;
    /// does nothing if there is one, or the pool is over.
    ///
    /// # Errors
    /// The system refuses the thread. The next call tries again.
    pub fn watch_long_turns(pool: &Arc<Self>) -> io::Result<()> {
        let mut seen = Vec::new();
        let unparker = pool.shared.long_turns.unparker();
        Self::start_lookout(pool, "turns", unparker, move |pool, parker| {
            let is_quiet = || pool.shared.queues.source.is_empty();
            if pool.look(&mut seen) == Sight::Quiet && pool.shared.long_turns.try_sleep(is_quiet) {
                parker.park();
            } else {
                parker.park_timeout(TICK);
            }
        })
    }

    /// Marks what is overdue while others wait, and says so.
    fn look(&self, seen: &mut Vec<Option<Sighting>>) -> Sight {
        let queues = &self.shared.queues;
        let processors = queues.in_reach().len();
        seen.resize(processors.max(seen.len()), None);
        let waiting = self.waiting();
        let (mut sight, mut is_any_due) = (Sight::Quiet, false);
        for (number, seen) in seen.iter_mut().enumerate().take(processors) {
            let Some((now, runs, shown)) = self.sight(number) else {
                continue;
            };
            let is_long = seen.replace(now) == Some(now) && runs;
            if is_long || shown == A_PIECE {
                sight = Sight::Busy;
            }
            is_any_due |= is_long && waiting > 0;
            self.shared.long_turns.mark(number, is_long && waiting > 0);
        }
        self.shared.long_turns.want(waiting);
        if is_any_due {
            queues.source.hurry();
        }
        sight
    }

    /// Returns what that processor is doing: its sighting, whether it runs anything, and the label
    /// that is shown. None if it has no machine.
    fn sight(&self, number: usize) -> Option<(Sighting, bool, u64)> {
        let coordinator = &self.shared.coordinator;
        let processor = &self.shared.queues.processors[number];
        let machine = coordinator.attached(number);
        let public = coordinator.machines.get(machine).and_then(OnceLock::get)?;
        let (activity, changes) = public.activity();
        let (guest, task) = (processor.guest.get(), public.task.get());
        // After the label: a task that is shown is the last one that is counted here.
        let run = processor.counters.snapshot().run_in_all();
        let shown = if guest != 0 { guest } else { task };
        let runs = guest != 0 || activity == Activity::Runs;
        Some(((run, machine, changes), runs, shown))
    }

    /// Returns how many tasks and threads wait for a processor.
    fn waiting(&self) -> usize {
        self.tasks_waiting() + self.shared.coordinator.control_word().waiting()
    }

    fn tasks_waiting(&self) -> usize {
        let queues = &self.shared.queues;
        let in_deques: usize = (queues.in_reach().iter())
            .map(|processor| processor.stealer.len())
            .sum();
        in_deques + queues.global.len() + queues.yielded.len()
    }

    /// Gives the processor to others that wait, and waits until they have had it for four
    /// milliseconds or want it no more, if the calling thread is one of the pool's, has a
    /// processor, and has been in the same task or piece for a millisecond or two. Returns `true`
    /// if it has. Call it in the middle of long work, with no lock held that others want. Needs
    /// [`watch_long_turns`](Self::watch_long_turns). Costs a look at a thread-local value and a
    /// load if nobody waits; else as much as a [`blocking`](Self::blocking) call. Blocking.
    pub fn make_way(&self) -> bool {
        current::with_current(&self.shared, |current| self.rest(current)) == Some(true)
    }

    fn rest(&self, current: &Current<'_>) -> bool {
        let long_turns = &self.shared.long_turns;
        let is_due = |processor: &usize| long_turns.is_due(*processor);
        if current.permit.processor().filter(is_due).is_none() {
            return false;
        }
        let Some(permit) = current.permit.take() else {
            return false;
        };
        let counters = &self.shared.queues.processors[permit.processor()].counters;
        counters.made_way.add(1);
        if self.tasks_waiting() > 0 {
            self.shared.coordinator.demand_queued_task(&permit);
        }
        let (permit, made_way) = match self.part_with(permit, current) {
            Ok((machine, parker)) => (self.get_back(machine, parker), true),
            Err(permit) => {
                counters.made_way.take_back(1);
                (permit, false)
            }
        };
        current.permit.replace(Some(permit));
        made_way
    }

    /// Waits for a processor that has nothing else to do, and, after a while, for any.
    fn get_back(&self, machine: usize, parker: &Parker) -> Permit {
        let coordinator = &self.shared.coordinator;
        let deadline = Instant::now() + REST;
        coordinator.begin_to_rest(machine);
        let granted = match coordinator.wait_until(machine, parker, deadline) {
            Some(grant) => grant,
            None if coordinator.stop_resting(machine) => {
                return coordinator.regain(machine, parker);
            }
            None => coordinator.wait(machine, parker),
        };
        let Grant::Run(permit) = granted else {
            unreachable!("a machine that rests is told {granted:?}");
        };
        coordinator.is_back(machine, permit)
    }
}
