//! The state that the workers of a pool share: their seats, the common queue, and the sleepers.

use std::cell::Cell;
use std::fmt;
use std::hint;
// std's in a model, too: it orders nothing.
use std::sync::{Arc, Weak};

use filch_deque::{Steal, Stealer};
use filch_injector::Injector;
use filch_parker::{AdaptiveSpinner, Parker, Unparker};
use filch_slab::Slab;
use filch_sync::atomic::{AtomicBool, Ordering, fence};
use filch_sync::{CachePadded, Mutex, lock};

use crate::forked::{Entry, steal_if};
use crate::isolation::IsolationMark;
use crate::job::{JobRef, Payload};
use crate::latch::{Latch, MAX_SEATS};
use crate::report::JobStack;
use crate::search::Found;
use crate::sleepers::Sleepers;

/// The slots of a deque at first. A fork deeper than that makes it grow.
const CAPACITY: usize = 64;

/// The slots of a block in the queue of one thread's own jobs, which are seldom more than one.
const OWN_BLOCK: usize = 8;

/// The part of a seat that only the thread in it has.
pub(crate) struct Owner {
    /// The jobs that it has forked: on its stack, in nested order.
    pub(crate) forks: filch_deque::Worker<Entry>,
    /// The jobs that it has spawned.
    pub(crate) spawned: filch_deque::Worker<JobRef>,
    pub(crate) parker: Parker,
    /// The jobs on its stack.
    pub(crate) stack: Arc<JobStack>,
}

/// A place among the workers: what others see of the thread in it. It stays when the thread goes.
pub(crate) struct Seat {
    pub(crate) forks: Stealer<Entry>,
    pub(crate) spawned: Stealer<JobRef>,
    pub(crate) unparker: Unparker,
    pub(crate) sleeps: CachePadded<AtomicBool>,
    /// `true` if its thread is to ask the host whether it should make way.
    pub(crate) yield_requested: CachePadded<AtomicBool>,
    /// Marks which of the jobs that it forks are isolated.
    pub(crate) isolation: IsolationMark,
    /// The jobs on its stack.
    pub(crate) stack: Arc<JobStack>,
    /// Jobs for the thread in it, and for no other one.
    pub(crate) own: Injector<JobRef, OWN_BLOCK>,
    /// `true` if a thread is there that will run those.
    listens: Mutex<bool>,
    /// `Some` while no thread is in it.
    owner: Mutex<Option<Owner>>,
}

impl Seat {
    fn new(_: u32) -> Self {
        let owner = Owner {
            forks: filch_deque::Worker::biased(CAPACITY),
            spawned: filch_deque::Worker::new(),
            parker: Parker::new(),
            stack: Arc::default(),
        };
        Self {
            forks: owner.forks.stealer(),
            spawned: owner.spawned.stealer(),
            unparker: owner.parker.unparker(),
            sleeps: CachePadded::new(AtomicBool::new(false)),
            yield_requested: CachePadded::new(AtomicBool::new(false)),
            isolation: IsolationMark::default(),
            stack: Arc::clone(&owner.stack),
            own: Injector::with_blocks(),
            listens: Mutex::new(false),
            owner: Mutex::new(Some(owner)),
        }
    }
}

impl Seat {
    /// Steals the oldest job that its thread has forked, if `accept` says so of the index where it
    /// lies (see [`Stealer::steal_if`]).
    pub(crate) fn steal_forked_if(&self, accept: impl Fn(u32) -> bool) -> Option<Found> {
        let index = Cell::new(0);
        let job = insist(|| {
            steal_if(&self.forks, |at| {
                index.set(at);
                accept(at)
            })
        })?;
        Some(Found {
            is_isolated: self.isolation.has(index.get()),
            ..Found::from(job)
        })
    }

    /// Steals the oldest job that its thread has spawned.
    pub(crate) fn steal_spawned(&self) -> Option<JobRef> {
        insist(|| self.spawned.steal())
    }

    /// Makes its thread tell another one of what it forks next, or do what it is told to.
    pub(crate) fn ask(&self) {
        _ = self.forks.ask();
    }
}

/// Repeats an attempt that lost a race: only "there is none" counts.
fn insist<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match attempt() {
            Steal::Success(taken) => return Some(taken),
            Steal::Retry => hint::spin_loop(),
            Steal::Empty => return None,
        }
    }
}

/// The state that the workers of a pool share.
pub struct Shared {
    pub(crate) seats: Slab<Seat>,
    /// Jobs from threads that have no seat.
    pub(crate) common: Injector<JobRef>,
    pub(crate) sleepers: Sleepers,
    /// Kept by the pool and by each thread that is seated: from here it would be a circle.
    host: Weak<dyn Host>,
    /// The time that a joiner that finds nothing looks on before it sleeps.
    pub(crate) patience: AdaptiveSpinner,
    /// The largest number of jobs on a stack that are no parts of one another.
    pub(crate) nested_jobs: u32,
}

/// The threads that run jobs.
pub trait Host: Send + Sync {
    /// Wakes a thread that has nothing to do, if there is one: something was published, and each
    /// thread that has gone to sleep without having seen it is known to the caller, by a `SeqCst`
    /// fence since, or by what that thread has asked for.
    fn notify(&self);

    /// Makes each thread that waits look for jobs of its own.
    fn nudge_threads(&self);

    /// Runs a call that blocks, and lets other jobs run meanwhile.
    fn block(&self, call: &mut dyn FnMut());

    /// Makes the calling thread sleep, in the middle of a job, until there is something to do.
    fn rest(&self, sleep: &mut dyn FnMut()) {
        sleep();
    }

    /// Lets others run that have waited for long, if there are such.
    fn yield_if_requested(&self) {}

    /// Returns whether perhaps no thread comes for what is published from outside, because the
    /// threads are about to exit. A thread that has published something, and hears `false`, can
    /// rely on it that one comes.
    fn is_ending(&self) -> bool {
        false
    }

    /// Tells the panic of a job that nobody waits for.
    fn tell_panic(&self, payload: Payload);
}

impl Shared {
    /// Makes a pool in which nobody is seated. At most `nested_jobs` that are no parts of one
    /// another stand on a stack.
    pub fn new(host: Weak<dyn Host>, patience: AdaptiveSpinner, nested_jobs: u32) -> Self {
        Self {
            seats: Slab::with_limit(Seat::new, MAX_SEATS as u32),
            common: Injector::new(),
            sleepers: Sleepers::new(),
            host,
            patience,
            nested_jobs,
        }
    }

    /// Returns the number of seats, taken or not.
    pub(crate) fn seat_count(&self) -> usize {
        self.seats.high_water() as usize
    }

    /// One of the seats that there are.
    pub(crate) fn seat(&self, seat: usize) -> &Seat {
        match self.seats.get(seat as u32) {
            Some(seat) => seat,
            None => unreachable!("seats stay"),
        }
    }

    /// All of them.
    pub(crate) fn all_seats(&self) -> impl Iterator<Item = &Seat> {
        (0..self.seat_count()).map(|seat| self.seat(seat))
    }

    /// Reserves a seat for a thread that is to come: what every thread is told, it is told already.
    /// `None`: there is none left.
    pub(crate) fn reserve(&self) -> Option<usize> {
        let seat = self.seats.allocate().ok()? as usize;
        *lock(&self.seat(seat).listens) = true;
        Some(seat)
    }

    /// Seats the calling thread, which keeps the host: where it is told to, or anywhere.
    pub(crate) fn sit_down(
        &self,
        reserved: Option<usize>,
    ) -> Option<(usize, Owner, Arc<dyn Host>)> {
        let host = self.host.upgrade()?;
        let seat = reserved.or_else(|| self.reserve())?;
        let owner = lock(&self.seat(seat).owner).take()?;
        Some((seat, owner, host))
    }

    /// Returns whether a thread sits in that seat.
    pub(crate) fn is_seated(&self, seat: usize) -> bool {
        lock(&self.seat(seat).owner).is_none()
    }

    /// Ends the listening of the thread in that seat, if no job is for it alone; returns whether.
    pub(crate) fn try_stop_listening(&self, seat: usize) -> bool {
        let seat = self.seat(seat);
        let mut listens = lock(&seat.listens);
        *listens = !seat.own.is_empty();
        !*listens
    }

    /// Makes every thread that is seated run a job that `make` makes for it.
    pub(crate) fn tell_all(&self, mut make: impl FnMut() -> JobRef) {
        for seat in self.all_seats() {
            let listens = lock(&seat.listens);
            if *listens {
                seat.own.push(make());
            }
        }
        // Those that wait in the middle of a job, and those that have nothing to do.
        (0..self.seat_count()).for_each(|seat| self.wake(seat));
        if let Some(host) = self.host.upgrade() {
            host.nudge_threads();
        }
    }

    /// Takes the thread off its seat; it leaves nothing in its deque.
    pub(crate) fn stand_up(&self, seat: usize, owner: Owner) {
        *lock(&self.seat(seat).owner) = Some(owner);
        self.seats.release(seat as u32);
    }

    /// Marks the job done, and wakes its owner, if that sleeps. The job may be gone on return.
    pub(crate) fn finish(&self, latch: &Latch, owner: usize) {
        if latch.finish() {
            self.wake(owner);
        }
    }

    /// Wakes the worker that waits in that seat.
    pub(crate) fn wake(&self, seat: usize) {
        self.seat(seat).unparker.unpark();
    }

    /// Wakes a thread to look for what was published: one that waits in the middle of a job, or one
    /// that has nothing to do.
    pub(crate) fn wake_one(&self, host: &dyn Host) {
        // ORDERING: SeqCst, partner of those of a thread that is about to sleep: in
        // `Sleepers::announce`, or in the host.
        fence(Ordering::SeqCst);
        self.wake_one_known(host);
    }

    /// Wakes a thread for what has been shared of a biased deque: the caller knows each thread that
    /// sleeps, and had not seen it (see [`Stealer::ask`]). Also one that had not seen the deque:
    /// seats are counted by exchanges of one word, of which the caller's came second.
    pub(crate) fn wake_one_known(&self, host: &dyn Host) {
        let flags = || self.all_seats().map(|seat| &*seat.sleeps);
        match self.sleepers.choose(flags) {
            Some(seat) => self.wake(seat),
            None => host.notify(),
        }
    }

    /// Tells each thread that runs jobs to ask the host, at its next fork or join, whether it
    /// should make way.
    pub(crate) fn request_yield(&self) {
        for seat in self.all_seats() {
            // ORDERING: Relaxed: a request, which is repeated.
            seat.yield_requested.store(true, Ordering::Relaxed);
            seat.ask();
        }
    }

    /// Returns whether the threads are about to exit: see [`Host::is_ending`].
    pub(crate) fn is_ending(&self) -> bool {
        self.host.upgrade().is_some_and(|host| host.is_ending())
    }

    /// Queues a job from a thread without a seat.
    pub(crate) fn inject(&self, job: JobRef) {
        self.common.push(job);
        // Without a host there is no thread.
        if let Some(host) = self.host.upgrade() {
            self.wake_one(&*host);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("sleepers", &self.sleepers)
            .finish_non_exhaustive()
    }
}
