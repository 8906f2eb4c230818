//! A thread that runs the tasks of whichever processor it holds.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_parker::{AdaptiveSpinner, Spin};
use filch_sync::atomic::Ordering;
use filch_sync::thread::{self, JoinHandle};
use filch_sync::{Arc, hint};

use crate::bond::BoundId;
use crate::config::Config;
use crate::crew::{Doing, Member, Turn};
use crate::current::{self, Current};
use crate::find_work::Patience;
use crate::hold::{Hold, HoldCell};
use crate::notice::Notice;
use crate::processors::{Processors, Runner};
use crate::stats::{Counter, Counters};
use crate::throttle::{Start, Threads};
use crate::vigil::Left;

/// Rounds of a search between which the thread pauses: well under a microsecond.
const TIGHT: u32 = 4;

/// Rounds after those, between which it gives its core to others.
const YIELDING: u32 = 12;

/// Pauses of one who has left a task to its owner, before each further look, which takes a cache
/// line from that owner.
pub(crate) const DISCRETION: u32 = 64;

/// Pauses of one whose tasks come from outside, before each further look: for so long the producers
/// have the queue to themselves, and one look finds more of what they have brought. Some 2 µs where
/// it was measured; how long a pause is, is the processor's affair, and some take several times as
/// long.
const COURTESY: u32 = 200;

/// The threads of a pool.
#[must_use = "detach or join them"]
pub struct Machines {
    pub(crate) threads: Arc<Threads>,
}

impl Machines {
    /// Waits until all threads have left, which they do after [`Processors::stop`], once no work
    /// remains. Blocking.
    ///
    /// What the tasks did happens before the return, and so do the destructors of the threads' own
    /// statics.
    ///
    /// # Panics
    /// On a thread of the pool, which would wait for itself. The threads are left to themselves
    /// then.
    pub fn join(self) {
        self.threads.join();
    }

    /// Leaves the threads to themselves.
    pub fn detach(self) {}
}

impl fmt::Debug for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machines").finish_non_exhaustive()
    }
}

/// What a machine's thread is made from. The pool keeps it until its last thread leaves.
pub(crate) struct Starter<T, R: Runner<T>> {
    pub(crate) pool: Arc<Processors<T>>,
    pub(crate) runner: Arc<R>,
    pub(crate) config: Config,
}

impl<T: Send + 'static, R: Runner<T>> Start<T> for Starter<T, R> {
    fn label(&self, task: &T) -> Option<NonZeroU64> {
        self.runner.label(task)
    }

    fn describe(&self, label: NonZeroU64) -> String {
        self.runner.describe(label)
    }

    fn start(&self, machine: usize) -> io::Result<JoinHandle<()>> {
        let mut builder =
            thread::Builder::new().name(format!("{}-{machine}", self.config.thread_name));
        if let Some(bytes) = self.config.stack_size {
            builder = builder.stack_size(bytes);
        }
        let pool = Arc::clone(&self.pool);
        let runner = Arc::clone(&self.runner);
        builder.spawn(move || {
            let parker = pool.crew.enter(machine);
            Machine {
                bound: Cell::new(None),
                member: pool.crew.member(machine),
                pool: &pool,
                runner: &*runner,
                current: Current {
                    machine,
                    parker: &parker,
                    hold: HoldCell::empty(),
                },
            }
            .main();
            // Whoever joins the threads expects that they have nothing any more.
            crate::panic::contain(|| drop(runner));
            pool.threads.outlive(machine);
            pool.crew.exit(machine, parker);
            pool.end_if_deserted();
        })
    }
}

/// A thread, on its own stack.
pub(crate) struct Machine<'thread, T, R> {
    pub(crate) pool: &'thread Processors<T>,
    pub(crate) runner: &'thread R,
    pub(crate) current: Current<'thread>,
    /// What the others see of it.
    member: &'thread Member,
    /// What it is bound as; perhaps it is not any more.
    pub(crate) bound: Cell<Option<BoundId>>,
}

/// What a machine does between two tasks.
enum Next<T> {
    Task(T),
    /// Something on the board is new.
    Attend,
    /// There is nothing that needs no search.
    Search,
}

/// What a search comes to.
enum Found<T> {
    Task(T),
    /// None, and the processor has been given away.
    Nothing(Parted),
}

/// The machine has no processor any more. It must [wait](Machine::wait), and keep these vigils
/// meanwhile.
#[derive(Default)]
#[must_use = "it waits for what it is told to do next"]
pub(crate) struct Parted(Vec<Left>);

impl<T: Send + 'static, R: Runner<T>> Machine<'_, T, R> {
    fn main(&self) {
        current::enter(self.pool, &self.current, || {
            let mut scratch = self.runner.scratch(self.current.machine);
            let mut turn = self.wait(Parted::default());
            // Not before the first turn: until then it may not be known yet.
            self.bound
                .set(self.pool.crew.bound_as(self.current.machine));
            loop {
                let parted = match turn {
                    Turn::Run(hold) => match self.bound.get() {
                        None => self.work(hold, None, &mut scratch),
                        Some(id) => self.work_bound(hold, id, &mut scratch),
                    },
                    Turn::Search(hold) => {
                        self.pool.queues.processors[hold.processor()]
                            .counters
                            .wake_ups
                            .add(1);
                        match self.spin(&hold) {
                            Some(task) => self.work(hold, Some(task), &mut scratch),
                            None => self.rest(hold, true),
                        }
                    }
                    Turn::Leave => break,
                };
                // The one place where it waits, on a stack that is as short as can be.
                turn = self.wait(parted);
            }
            crate::panic::contain(|| drop(scratch));
        });
    }

    /// Runs tasks until the machine has no processor any more, which need not be the one that it
    /// began with.
    pub(crate) fn work(&self, hold: Hold, first: Option<T>, scratch: &mut R::Scratch) -> Parted {
        let pool = self.pool;
        let mut seen = pool.crew.notice().settled();
        self.current.hold.replace(Some(hold));
        if let Some(task) = first
            && let Some(parted) = self.run_where_it_belongs(task, scratch)
        {
            return parted;
        }
        loop {
            let notice = pool.crew.notice();
            let task = match self.next(notice, seen) {
                Next::Task(task) => task,
                Next::Attend => {
                    seen = notice.settled();
                    match self.attend() {
                        Some(parted) => return parted,
                        None => continue,
                    }
                }
                Next::Search => match self.search() {
                    Found::Task(task) => task,
                    Found::Nothing(parted) => return parted,
                },
            };
            if let Some(parted) = self.run_where_it_belongs(task, scratch) {
                return parted;
            }
        }
    }

    /// What to do between two tasks.
    #[inline]
    #[expect(unsafe_code, reason = "looks at the hold where it is")]
    fn next(&self, notice: Notice, seen: Notice) -> Next<T> {
        let pool = self.pool;
        let next = |hold: &Hold| {
            let owner = pool.queues.owners.get(hold);
            if notice == seen && !notice.is_surplus(hold.processor()) {
                return owner.next(pool).map_or(Next::Search, Next::Task);
            }
            if notice.waiting > 0 && pool.crew.owes_a_turn(hold) {
                pool.crew.settle_the_turn(hold);
                return owner.next(pool).map_or(Next::Attend, Next::Task);
            }
            Next::Attend
        };
        // SAFETY: none of these knows of the cell, and none runs a task.
        let Some(next) = (unsafe { self.current.hold.with(next) }) else {
            unreachable!("a machine that runs tasks has a processor");
        };
        next
    }

    pub(crate) fn run(&self, task: T, scratch: &mut R::Scratch) {
        if let Some(processor) = self.current.hold.processor() {
            self.pool.queues.processors[processor].counters.run.add(1);
            self.runner.on_processor(processor, scratch);
        }
        let label = self.runner.label(&task);
        if label.is_some() {
            self.show(label);
        }
        // If it unwinds, the runner answers for its own state; the thread goes on with the next
        // task.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.runner.run(task, scratch))) {
            self.count(|counters| &counters.panicked);
            crate::panic::discard(payload);
        }
        if label.is_some() {
            self.show(None);
        }
    }

    /// Tells the person with a hung system what the thread is at.
    #[inline]
    fn show(&self, label: Option<NonZeroU64>) {
        let label = label.map_or(0, NonZeroU64::get);
        // ORDERING: Relaxed: for people.
        self.member.label.store(label, Ordering::Relaxed);
    }

    /// Adds one to a figure of the processor that the machine holds.
    pub(crate) fn count(&self, figure: impl FnOnce(&Counters) -> &Counter) {
        if let Some(processor) = self.current.hold.processor() {
            figure(&self.pool.queues.processors[processor].counters).add(1);
        }
    }

    /// Between two tasks something on the board is new: gives the processor up, or to somebody who
    /// waits, if need be.
    fn attend(&self) -> Option<Parted> {
        let pool = self.pool;
        let hold = self.current.hold.take()?;
        let machine = self.current.machine;
        let counters = &pool.queues.processors[hold.processor()].counters;
        let notice = pool.crew.notice();
        let (figure, kept) = if notice.is_surplus(hold.processor()) {
            // Counted before: afterwards the figures may be another thread's.
            counters.retired.add(1);
            let kept = pool.crew.retire(hold, machine, &pool.queues);
            (Some(&counters.retired), kept)
        } else if notice.waiting > 0 {
            counters.hand_overs.add(1);
            let kept = pool.crew.hand_over(hold, machine);
            (Some(&counters.hand_overs), kept)
        } else {
            // There may be more processors than before, and what the last task scheduled has told
            // none of them.
            pool.crew.wake_one();
            (None, Err(hold))
        };
        match kept {
            Ok(()) => Some(Parted::default()),
            Err(hold) => {
                if let Some(figure) = figure {
                    figure.take_back(1);
                }
                self.current.hold.replace(Some(hold));
                None
            }
        }
    }

    /// The processor has nothing of its own: search, spin, rest.
    fn search(&self) -> Found<T> {
        let pool = self.pool;
        let Some(hold) = self.current.hold.take() else {
            unreachable!("a machine that looks for work has a processor");
        };
        let searching = pool.crew.idle.try_start_searching(pool.count());
        if searching && let Some(task) = self.spin(&hold) {
            return self.found(hold, task);
        }
        Found::Nothing(self.rest(hold, searching))
    }

    fn found(&self, hold: Hold, task: T) -> Found<T> {
        self.current.hold.replace(Some(hold));
        Found::Task(task)
    }

    /// Looks until there is something, or there has been nothing for a while. If there was
    /// something, the machine does not count as searching any more.
    fn spin(&self, hold: &Hold) -> Option<T> {
        let pool = self.pool;
        let owner = pool.queues.owners.get(hold);
        let (mut spinner, mut patience) = if pool.count() == 1 {
            (AdaptiveSpinner::none(), Patience::Spent)
        } else {
            let spinner = AdaptiveSpinner::with_rounds(TIGHT, YIELDING);
            (spinner, Patience::Fresh)
        };
        let mut discreet = false;
        owner.begin();
        let found = loop {
            let found = owner.search(pool, patience);
            if found.is_some() || patience == Patience::Spent {
                break found;
            }
            // Who gives up early leaves nothing either: the second look would see what was left,
            // and call for a searcher that gives up early, for as long as it lies there.
            let last = pool.crew.notice().waiting > 0 || spinner.spin() == Spin::Block;
            discreet |= owner.has_left();
            let pauses = match owner.is_fed() {
                true => COURTESY,
                false if discreet => DISCRETION,
                false => 0,
            };
            hint::pause(pauses);
            patience = match spinner.rounds() {
                _ if last => Patience::Spent,
                ..TIGHT => Patience::Fresh,
                rounds if rounds < TIGHT + YIELDING => Patience::Waning,
                _ => Patience::Spent,
            };
        };
        let counters = &pool.queues.processors[hold.processor()].counters;
        counters.spins.add(spinner.rounds().into());
        if found.is_some() {
            let vigils = owner.vigils();
            pool.crew.drop_vigils(vigils.iter().map(|left| left.victim));
            pool.crew.stop_searching(&pool.queues);
        }
        found
    }

    /// The processor goes idle, and the machine is to wait with it, or for whatever it is told.
    fn rest(&self, hold: Hold, searching: bool) -> Parted {
        let pool = self.pool;
        let counters = &pool.queues.processors[hold.processor()].counters;
        counters.parks.add(1);
        let vigils = pool.queues.owners.get(&hold).vigils();
        if !vigils.is_empty() {
            counters.vigils.add(1);
        }
        pool.crew
            .rest(hold, self.current.machine, searching, &pool.queues);
        Parted(vigils)
    }

    /// Waits for what it is told to do next, and keeps vigil meanwhile.
    #[inline]
    fn wait(&self, Parted(vigils): Parted) -> Turn {
        let Current {
            machine, parker, ..
        } = self.current;
        let crew = &self.pool.crew;
        let member = crew.member(machine);
        member.set(Doing::Parked);
        let told = match vigils.is_empty() {
            true => None,
            false => self.pool.nap(machine, parker, vigils),
        };
        let turn = told.unwrap_or_else(|| crew.wait(machine, parker));
        member.set(Doing::Runs);
        turn
    }
}
