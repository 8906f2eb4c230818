//! The thread that looks after long turns, and how a thread makes way.

use std::io;
use std::time::{Duration, Instant};

use filch_parker::Parker;
use filch_sync::{Arc, lock, thread};

use crate::pool::processors::Processors;
use crate::pool::sighting::Sighting;
use crate::protocol::state::grant::A_PIECE;
use crate::protocol::{Grant, Permit};
use crate::thread::current::{self, Current};

/// From one look to the next. What a look has seen twice is long.
const TICK: Duration = Duration::from_millis(1);

/// How long a thread that has made way rests, if the others go on for so long: about as long as it
/// is in its turn before, since the thread that looks may itself have to wait for a core.
const REST: Duration = Duration::from_millis(4);

/// What a look has found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Nothing long, and nothing that may become so.
    Quiet,
    Busy,
}

impl<T: Send + 'static> Processors<T> {
    /// From now on the pool has one thread more, which looks once a millisecond, as long as
    /// something is in the source or runs long: whether a thread has been in the same task or piece
    /// ever since the last look, while a task waits, or a thread that is back from a
    /// [`blocking`](Self::blocking) call. Such a thread is to [make way](Self::make_way), and the
    /// source is [told](crate::Source::hurry). The thread ends with the pool. Blocking, while it is
    /// started; does nothing if there is one, or the pool is over.
    ///
    /// # Errors
    /// The system refuses the thread. The next call tries again.
    pub fn watch_long_turns(pool: &Arc<Self>) -> io::Result<()> {
        let _one_at_a_time = lock(&pool.handles.resizing);
        if pool.shared.long_turns.are_watched() || pool.shared.coordinator.is_over() {
            return Ok(());
        }
        let parker = Parker::new();
        let unparker = parker.unparker();
        let name = format!("{}-turns", pool.config.thread_name);
        let main = {
            let pool = Arc::clone(pool);
            move || pool.look_after_turns(&parker)
        };
        pool.handles
            .start(usize::MAX, || thread::Builder::new().name(name).spawn(main))?;
        pool.shared.long_turns.begin(unparker);
        // It may have been over before there was anybody to be woken.
        if pool.shared.coordinator.is_over() {
            pool.shared.long_turns.wake();
        }
        Ok(())
    }

    fn look_after_turns(&self, parker: &Parker) {
        let mut seen = Vec::new();
        while !self.shared.coordinator.is_over() {
            let is_quiet = || self.shared.queues.source.is_empty();
            if self.look(&mut seen) == Sight::Quiet && self.shared.long_turns.try_sleep(is_quiet) {
                parker.park();
            } else {
                parker.park_timeout(TICK);
            }
        }
    }

    /// Marks what is overdue while others wait, and says so.
    fn look(&self, seen: &mut Vec<Option<Sighting>>) -> Sight {
        let queues = &self.shared.queues;
        let processors = queues.in_reach().len();
        seen.resize(processors.max(seen.len()), None);
        let waiting = self.waiting();
        let (mut sight, mut is_any_due) = (Sight::Quiet, false);
        for (number, seen) in seen.iter_mut().enumerate().take(processors) {
            let Some(look) = self.look_at(number) else {
                continue;
            };
            let now = look.sighting;
            let is_long = seen.replace(now) == Some(now) && look.runs;
            if is_long || look.shown == A_PIECE {
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

    /// How many tasks and threads wait for a processor.
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

    /// If the calling thread is one of the pool's, has a processor, and has been in the same task
    /// or piece for a millisecond or two while others wait: gives the processor to these, and waits
    /// until they have had it for four, or want it no more. Whether it has. To be called
    /// in the middle of long work, where the caller holds no lock that others want. Needs
    /// [`watch_long_turns`](Self::watch_long_turns). Costs a look at a thread-local value and a
    /// load if it need not; else as much as a [`blocking`](Self::blocking) call. Blocking.
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
