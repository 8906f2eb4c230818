//! State under locks: machines without a processor, and the reverse; and what the
//! threads are told that wait for quiescence. Neither making a task runnable nor running it takes a
//! lock.

use std::collections::VecDeque;

use filch_parker::Parker;
use filch_sync::atomic::AtomicUsize;
use filch_sync::{Condvar, Mutex, lock};

use crate::protocol::state::grant::Permit;

/// Machines without a processor, and processors without a machine.
#[derive(Default)]
pub(crate) struct Synced {
    /// Spare machines, the last to come first to go: its stack is warm.
    pub(crate) spares: Vec<usize>,
    /// The largest number of them that is kept.
    pub(crate) max_spares: usize,
    /// Machines that are back from a blocking call and wait for a processor, the longest wait
    /// first.
    pub(crate) waiters: VecDeque<usize>,
    /// Machines that tasks are bound to.
    pub(crate) bindings: Vec<Binding>,
    /// The number of guests that have a place.
    pub(crate) guests: usize,
    /// The number of bound machines there have been.
    pub(crate) bound_so_far: u32,
    /// The permits of processors that no machine may run on: not started yet, retired, or all of
    /// them, since the pool is over.
    pub(crate) inactive: Box<[Option<Permit>]>,
    /// Places of machines that have exited.
    pub(crate) vacant: Vec<usize>,
    /// The parkers of the machines whose thread does not run yet, or has exited.
    pub(crate) parkers: Vec<Option<Parker>>,
    /// `true` once nothing runs any more, or will: every machine has been told to exit.
    pub(crate) over: bool,
    /// Threads that are there, or about to be. Places without a thread do not count.
    pub(crate) threads: usize,
    /// Those of them that are expected: they come when they like.
    pub(crate) expected: usize,
    /// `true` if not all of those could be had: what waits for one may wait in vain.
    pub(crate) gives_up: bool,
    /// Processors that are inactive because their thread could not be had. It may be too large
    /// after a resize.
    pub(crate) missing: usize,
    /// Those of the threads that have been told to exit.
    pub(crate) leaving: usize,
    /// Threads started so far.
    pub(crate) started: u64,
    /// Times a thread was wanted and could not be had.
    pub(crate) refused: u64,
}

impl Synced {
    pub(crate) fn new(processors: usize, max_spares: usize) -> Self {
        // SAFETY: the processors are new, and these are their first permits.
        let permit = |processor| Some(unsafe { Permit::from_number(processor) });
        Self {
            max_spares,
            inactive: (0..processors).map(permit).collect(),
            ..Self::default()
        }
    }

    /// The number of machines that run certain tasks alone: bound ones, and guests.
    pub(crate) fn bound(&self) -> usize {
        self.bindings.len() + self.guests
    }

    /// Places, with a thread or without, that no tasks are bound to.
    pub(crate) fn unbound(&self) -> usize {
        self.parkers.len() - self.vacant.len() - self.bound()
    }

    /// Counts a thread that is being started.
    pub(crate) fn count_start(&mut self) {
        self.threads += 1;
        self.started += 1;
    }

    /// Counts a thread that could not be had.
    pub(crate) fn count_refusal(&mut self) {
        self.threads -= 1;
        self.started -= 1;
        self.refused += 1;
    }

    /// The place in the list of the machine's binding, if tasks are bound to it.
    pub(crate) fn binding(&self, machine: usize) -> Option<usize> {
        let of_machine = |binding: &Binding| binding.machine == machine;
        self.bindings.iter().position(of_machine)
    }

    /// Takes a binding off the list: no tasks are bound to that machine any more.
    pub(crate) fn take_binding(&mut self, at: usize) -> Binding {
        self.bindings.swap_remove(at)
    }
}

/// Names one reservation of a thread by
/// [`Processors::reserve_thread`](crate::Processors::reserve_thread). It is never used again in the
/// same pool, and means nothing in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundId(u32);

impl BoundId {
    /// The name with that number, which is not 0.
    pub(crate) fn new(number: u32) -> Self {
        debug_assert_ne!(number, 0);
        Self(number)
    }

    /// The name as a number, never 0, for a user that keeps it in an atomic word.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The name that [`to_bits`](Self::to_bits) gave the number for. `None` for 0, which names no
    /// thread.
    pub fn from_bits(bits: u32) -> Option<Self> {
        (bits != 0).then_some(Self(bits))
    }
}

/// The largest number of bound machines at a time. They come on top of the thread limit, since each
/// is asked for by name.
pub(crate) const MAX_BOUND: usize = 256;

/// One bound machine.
#[derive(Clone, Copy)]
pub(crate) struct Binding {
    pub(crate) id: BoundId,
    pub(crate) machine: usize,
    /// `true` while it waits for a task, without a processor: a thread that has found one calls it.
    pub(crate) waits: bool,
    /// No more tasks will be bound to it: when it has run those that wait, it is an ordinary
    /// machine.
    pub(crate) released: bool,
}

/// Threads that wait until nothing can run, and what they are told.
#[derive(Default)]
pub(crate) struct Observers {
    /// Threads that wait; read without the lock.
    pub(crate) count: AtomicUsize,
    pub(crate) moments: Mutex<Moments>,
    pub(crate) changed: Condvar,
}

/// The moments that observers wait for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Moments of quiescence that were seen while a thread waited.
    pub(crate) seen: u64,
    /// The last thread has exited: there will be no more.
    pub(crate) over: bool,
}

impl Observers {
    /// Tells the observers. The innermost lock: `change` takes none.
    pub(crate) fn report(&self, change: impl FnOnce(&mut Moments)) {
        change(&mut lock(&self.moments));
        self.changed.notify_all();
    }
}
