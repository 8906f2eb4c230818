//! The permit, which is the right to run on a processor and the key to its local part; the grant,
//! which tells a machine without one what to do next; and the words of a machine that other threads
//! read and write.

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The right to run on one processor. There is one for each processor, wherever it is at the
/// moment: with a machine, as an entry of the idle stack, in a machine's grant, or inactive under
/// the lock.
///
/// It can be handed to another thread, but two may not use it at once: Send, not Sync.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a processor whose permit is dropped never runs again"]
pub struct Permit {
    processor: usize,
    not_sync: PhantomData<Cell<()>>,
}

impl Permit {
    /// The permit of a processor that was given up as a number.
    ///
    /// # Safety
    /// No other permit for that processor exists: the number comes from
    /// [`into_number`](Self::into_number) of the only one there was, which happened before, or the
    /// processor is a new one; and no other thread makes a permit of the number too.
    pub unsafe fn from_number(processor: usize) -> Self {
        Self {
            processor,
            not_sync: PhantomData,
        }
    }

    /// The number of the processor.
    pub fn processor(&self) -> usize {
        self.processor
    }

    /// Gives the right up, to the thread that is told the number.
    pub fn into_number(self) -> usize {
        self.processor
    }
}

/// An instruction to a machine without a processor.
#[derive(Debug, PartialEq, Eq)]
pub enum Grant {
    /// Run on this processor.
    Run(Permit),
    /// The same; and the machine counts as searching already.
    Search(Permit),
    /// Exit.
    Exit,
}

impl Grant {
    /// Returns `processor + 1 | searching:1`, where 1 means to exit. Never 0.
    fn pack(self) -> u32 {
        match self {
            Self::Exit => 1,
            Self::Run(permit) => (permit.into_number() as u32 + 1) << 1,
            Self::Search(permit) => (permit.into_number() as u32 + 1) << 1 | 1,
        }
    }

    /// # Safety
    /// The word comes from [`pack`](Self::pack), which happened before, and each word is unpacked
    /// once.
    unsafe fn unpack(word: u32) -> Self {
        let Some(processor) = (word >> 1).checked_sub(1) else {
            return Self::Exit;
        };
        // SAFETY: `pack` took the only permit of that processor apart (contract).
        let permit = unsafe { Permit::from_number(processor as usize) };
        match word & 1 {
            1 => Self::Search(permit),
            _ => Self::Run(permit),
        }
    }
}

/// The word of a machine without a thread, in place of a grant: its first one brings it. More than
/// any grant.
const NO_THREAD: u32 = u32::MAX;

/// The activity of a machine, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Activity {
    Gone = 0,
    Runs = 1,
    Parked = 2,
    Blocks = 3,
    Waits = 4,
}

impl Activity {
    /// The bits of a word that it takes.
    const MASK: u32 = 7;
}

/// The label of a machine that runs an external task of the source.
pub(crate) const EXTERNAL_TASK: u64 = u64::MAX;

/// The label of a task that it runs, from what it shows.
pub(crate) fn task_label(label: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(label).filter(|_| label != EXTERNAL_TASK)
}

/// The work that a thread shows to people: the label of a task, [`EXTERNAL_TASK`], or 0.
#[derive(Default)]
pub(crate) struct ShownTask(AtomicU64);

impl ShownTask {
    #[inline]
    pub(crate) fn show(&self, label: u64) {
        // ORDERING: Relaxed: for people.
        self.0.store(label, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: Relaxed: for people, or for a look that comes again.
        self.0.load(Ordering::Relaxed)
    }
}

/// The part of a machine that other threads need.
pub(crate) struct MachineShared {
    unparker: Unparker,
    /// 0, or a [`Grant`], or [`NO_THREAD`].
    grant: AtomicU32,
    /// An [`Activity`], and above it how often it has changed, for people. Written by the machine's
    /// own thread.
    activity: AtomicU32,
    pub(crate) task: ShownTask,
    /// The time when this was made.
    made: Instant,
    /// The start of its latest blocking call: nanoseconds after `made`. For people.
    blocks_since: AtomicU64,
}

impl MachineShared {
    pub(crate) fn new(parker: &Parker) -> Self {
        Self {
            unparker: parker.unparker(),
            grant: AtomicU32::new(NO_THREAD),
            activity: AtomicU32::new(Activity::Gone as u32),
            task: ShownTask::default(),
            made: Instant::now(),
            blocks_since: AtomicU64::new(0),
        }
    }

    /// Notes that a blocking call of the machine begins. Called by its own thread.
    pub(crate) fn begin_blocking(&self) {
        let since = self.made.elapsed().as_nanos() as u64;
        // ORDERING: Relaxed: for people.
        self.blocks_since.store(since, Ordering::Relaxed);
    }

    /// Returns how long its latest blocking call has taken until `now`.
    pub(crate) fn blocks_for(&self, now: Instant) -> Duration {
        // ORDERING: Relaxed: for people.
        let since = Duration::from_nanos(self.blocks_since.load(Ordering::Relaxed));
        now.saturating_duration_since(self.made)
            .saturating_sub(since)
    }

    /// Tells the machine what to do next. It has no other grant, and only the caller may give it
    /// one. Returns whether the machine has a thread; if not, the caller starts one.
    #[must_use]
    pub(crate) fn set_grant(&self, grant: Grant) -> bool {
        // ORDERING: Release, partner of the Acquire in `take_grant`: whatever was done on the
        // processor has happened. The token alone does not say so: the machine may find the grant
        // after some older token. An exchange: a thread that cannot begin leaves the machine at the
        // same time, and either it finds this grant, or we find it gone.
        let before = self.grant.swap(grant.pack(), Ordering::Release);
        let _ = self.unparker.unpark();
        before != NO_THREAD
    }

    /// Notes that the machine has no thread, any more or yet; returns an untaken grant.
    pub(crate) fn lose_thread(&self) -> Option<Grant> {
        // ORDERING: Acquire, partner of the Release in `set_grant`: what the permit guards. (loom
        // cannot show its absence, as no model looks at that before the next edge; the kernel
        // `grant-without-a-thread` does.) What comes after is told under the lock.
        match self.grant.swap(NO_THREAD, Ordering::Acquire) {
            0 | NO_THREAD => None,
            // SAFETY: `set_grant` packed it, which happened before (Acquire above), and the
            // exchange has taken it.
            grant => Some(unsafe { Grant::unpack(grant) }),
        }
    }

    /// Expects a thread, which is being started or calls this itself, before its first grant.
    pub(crate) fn expect_thread(&self) {
        // ORDERING: Relaxed: nobody else knows the machine yet.
        self.grant.store(0, Ordering::Relaxed);
    }

    /// Returns whether the machine has a thread, or will soon. Asked by the one that may grant it
    /// something.
    pub(crate) fn has_thread(&self) -> bool {
        // ORDERING: Relaxed: the caller has taken the machine from where it was listed.
        self.grant.load(Ordering::Relaxed) != NO_THREAD
    }

    /// Ends its thread's park, or the next one.
    pub(crate) fn nudge(&self) {
        let _ = self.unparker.unpark();
    }

    /// Returns what the machine is told to do next, if it has been told. Called by its own thread.
    pub(crate) fn take_grant(&self) -> Option<Grant> {
        // ORDERING: Acquire, partner of the Release in `set_grant`.
        let grant = self.grant.load(Ordering::Acquire);
        if grant == 0 || grant == NO_THREAD {
            return None;
        }
        // ORDERING: Relaxed: the next grant comes after this machine has been listed somewhere
        // again, which is an edge.
        self.grant.store(0, Ordering::Relaxed);
        // SAFETY: `set_grant` packed it, which happened before (Acquire above). Only this thread
        // takes grants, and it has just taken this one.
        Some(unsafe { Grant::unpack(grant) })
    }

    pub(crate) fn set_activity(&self, activity: Activity) {
        // ORDERING: Relaxed: for people.
        let changes = self.activity.load(Ordering::Relaxed) & !Activity::MASK;
        let changed = changes.wrapping_add(Activity::MASK + 1) | activity as u32;
        // ORDERING: Relaxed: as above.
        self.activity.store(changed, Ordering::Relaxed);
    }

    /// Returns what the machine is doing, and a number that differs whenever it has done something
    /// else in between.
    pub(crate) fn activity(&self) -> (Activity, u32) {
        // ORDERING: Relaxed: for people.
        let word = self.activity.load(Ordering::Relaxed);
        let activity = match word & Activity::MASK {
            1 => Activity::Runs,
            2 => Activity::Parked,
            3 => Activity::Blocks,
            4 => Activity::Waits,
            _ => Activity::Gone,
        };
        (activity, word)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use filch_parker::Parker;

    use super::{Grant, MachineShared, Permit};

    #[test]
    fn a_grant_survives_packing() {
        for processor in [0, 1, 65_533] {
            // SAFETY: of a pool that does not exist; one permit at a time is used.
            let permit = || unsafe { Permit::from_number(processor) };
            // SAFETY: packed just before, and unpacked once.
            let round = |grant: Grant| unsafe { Grant::unpack(grant.pack()) };
            assert_eq!(round(Grant::Run(permit())), Grant::Run(permit()));
            assert_eq!(round(Grant::Search(permit())), Grant::Search(permit()));
        }
        // SAFETY: as above.
        assert_eq!(unsafe { Grant::unpack(Grant::Exit.pack()) }, Grant::Exit);
    }

    #[test]
    fn a_call_has_taken_no_longer_than_since_it_began() {
        let machine = MachineShared::new(&Parker::new());
        while machine.made == Instant::now() {}
        let before = Instant::now();
        machine.begin_blocking();
        let now = Instant::now();
        assert!(machine.blocks_for(now) <= now - before);
    }
}
