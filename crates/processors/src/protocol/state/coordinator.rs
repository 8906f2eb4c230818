//! The state of a pool's protocol, which machine has which processor, and the wake-up path. The
//! arguments, and the ways of a permit, are in [`architecture`](crate::architecture).

use std::sync::OnceLock;
use std::{fmt, io};

use filch_parker::Parker;
use filch_sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::{CachePadded, Mutex, MutexGuard, lock};

use crate::protocol::state::grant::{Grant, MachineShared, Permit};
use crate::protocol::state::idle::Idle;
use crate::protocol::state::synced::{MAX_BOUND, Observers, Synced};

/// The machines and the processors of a pool, and which has which.
pub struct Coordinator {
    pub(crate) idle: Idle,
    pub(crate) control: Control,
    /// For each processor, the machine that runs on it, or waits for it while it is on the idle
    /// stack. Written by the machine with the permit: at the latest before it gives the processor
    /// away.
    pub(crate) attached: Box<[AtomicU32]>,
    /// For each processor, how often in a row it went to a machine that was back from a blocking
    /// call. Written by the machine with the permit.
    pub(crate) returns: Box<[AtomicU32]>,
    /// The machines by number, in rows. A place is made when it is needed first, and used again by
    /// later ones. Its thread is started at its first grant.
    pub(crate) machines: Box<[OnceLock<Box<Row>>]>,
    /// The largest number of machines, without bound ones and those that have been told to exit.
    pub(crate) limit: usize,
    synced: Mutex<Synced>,
    /// Machines in blocking calls without their processor, those included that are back and wait
    /// for one.
    pub(crate) away: CachePadded<AtomicUsize>,
    /// Processors that are not inactive.
    pub(crate) activated: CachePadded<AtomicUsize>,
    pub(crate) observers: Observers,
    /// For each processor, the machine that watches it, plus one, or zero: see `going_idle.rs`.
    pub(crate) watchers: Box<[AtomicU32]>,
    pub(crate) launcher: OnceLock<Launcher>,
}

/// The number of machines whose places are made together.
pub(crate) const ROW: usize = 32;
type Row = [OnceLock<Box<MachineShared>>; ROW];

/// Starts the thread of a machine.
type Launcher = Box<dyn Fn(usize) -> io::Result<()> + Send + Sync>;

impl Coordinator {
    /// Makes the state of `processors` places, of which `active` are to be used, and `threads`
    /// machines at most, not counting bound ones. All processors are inactive.
    pub fn new(processors: usize, active: usize, threads: usize, spares: usize) -> Self {
        let zeros = || (0..processors).map(|_| AtomicU32::new(0)).collect();
        Self {
            idle: Idle::new(processors),
            control: Control::new(active),
            attached: zeros(),
            returns: zeros(),
            machines: (0..threads + processors + MAX_BOUND)
                .step_by(ROW)
                .map(|_| OnceLock::new())
                .collect(),
            limit: threads,
            synced: Mutex::new(Synced::new(processors, spares)),
            away: CachePadded::new(AtomicUsize::new(0)),
            activated: CachePadded::new(AtomicUsize::new(0)),
            observers: Observers::default(),
            watchers: zeros(),
            launcher: OnceLock::new(),
        }
    }

    /// Lets `launcher` start the threads of machines, and say why it cannot; once. Without it the
    /// caller looks after that.
    pub fn set_launcher(&self, launcher: impl Fn(usize) -> io::Result<()> + Send + Sync + 'static) {
        let _ = self.launcher.set(Box::new(launcher));
    }

    pub(crate) fn synced(&self) -> MutexGuard<'_, Synced> {
        lock(&self.synced)
    }

    pub(crate) fn machine(&self, machine: usize) -> &MachineShared {
        let row = self.machines[machine / ROW].get();
        match row.and_then(|row| row[machine % ROW].get()) {
            Some(machine) => machine,
            None => unreachable!("a machine's place is made before others hear of it"),
        }
    }

    /// The machines whose places have been made: each before those behind it.
    pub(crate) fn all_machines(&self) -> impl Iterator<Item = &MachineShared> {
        let rows = self.machines.iter().map_while(OnceLock::get);
        let machines = rows.flat_map(|row| row.iter().map_while(OnceLock::get));
        machines.map(|machine| &**machine)
    }

    /// Returns what machines must notice.
    #[inline]
    pub fn control_word(&self) -> ControlWord {
        self.control.read()
    }

    /// The machine that runs on the processor, or waits for it.
    pub(crate) fn attached(&self, processor: usize) -> usize {
        // ORDERING: Relaxed: a thread that acts on it has popped the processor, and the last
        // machine on it wrote this before the push.
        self.attached[processor].load(Ordering::Relaxed) as usize
    }

    /// Attaches the machine to a processor, of which the caller has the permit.
    pub(crate) fn attach(&self, processor: usize, machine: usize) {
        // ORDERING: Relaxed: released with the processor, when that is given away or granted.
        self.attached[processor].store(machine as u32, Ordering::Relaxed);
    }

    /// Tells a machine that only the caller can reach what to do next.
    pub(crate) fn grant(&self, machine: usize, grant: Grant) {
        if let Grant::Run(permit) | Grant::Search(permit) = &grant {
            self.attach(permit.processor(), machine);
        }
        if !self.machine(machine).set_grant(grant) {
            // What it was told, others are told if there is no thread.
            let _ = self.start_thread(machine, self.synced());
        }
    }

    /// Returns what the machine is told to do next, if it has been told.
    pub fn take_grant(&self, machine: usize) -> Option<Grant> {
        self.machine(machine).take_grant()
    }

    /// Blocks until the machine is told what to do next.
    pub fn wait(&self, machine: usize, parker: &Parker) -> Grant {
        self.wait_beside(machine, parker, || false)
    }

    /// Waits as [`wait`](Self::wait) does, and calls `nudged` before each time that it parks, until
    /// that has no more to do: what was there before a [`nudge_all`](Self::nudge_all), it sees.
    pub fn wait_beside(
        &self,
        machine: usize,
        parker: &Parker,
        mut nudged: impl FnMut() -> bool,
    ) -> Grant {
        loop {
            if let Some(grant) = self.take_grant(machine) {
                return grant;
            }
            // A token may be an old one, left by a grant that was found without parking.
            if !nudged() {
                parker.park();
            }
        }
    }

    /// Wakes every machine that waits, to look at what it has beside processors. The token of one
    /// that does not wait stays until it does.
    pub fn nudge_all(&self) {
        self.all_machines().for_each(MachineShared::nudge);
    }

    /// Wakes a processor for work that was published, if one is idle and none is searching.
    #[inline]
    pub fn wake_one(&self) -> bool {
        self.wake_one_unless(|| false)
    }

    /// Wakes a processor, as [`wake_one`](Self::wake_one) does, for a task that the caller leaves
    /// in its processor's deque; but not if it is the only task there and the processor is watched.
    #[inline]
    pub fn wake_one_for_deque(&self, processor: usize, is_only: impl FnOnce() -> bool) -> bool {
        self.wake_one_unless(|| self.is_watched(processor) && is_only())
    }

    /// Wakes a processor unless the work turns out `covered`: see [`Idle::processor_to_wake`].
    #[inline]
    fn wake_one_unless(&self, covered: impl FnOnce() -> bool) -> bool {
        let Some(processor) = self.idle.processor_to_wake(covered) else {
            return false;
        };
        self.send_to_search(processor);
        true
    }

    /// Wakes the machine that waits with a processor which was popped for that.
    #[inline(never)]
    fn send_to_search(&self, processor: usize) {
        let (permit, machine) = self.popped(processor);
        // It waits for just this processor; only the caller may tell it.
        self.grant(machine, Grant::Search(permit));
    }

    /// Ends the search of a machine that has found something and goes to run it. If it was the last
    /// one that searched, producers have relied on it: it looks once more, and wakes another for
    /// what is left. Returns whether it did.
    pub fn stop_searching(&self, work: &impl Work) -> bool {
        if !self.idle.stop_searching() {
            return false;
        }
        // ORDERING: partner of the producer's fence in `processor_to_wake`. Either the producer
        // sees that none searches any more, or we see its task. A wake-up without the look would be
        // right, too; but when a single task comes, it would be in vain, and the task would wait
        // for it.
        fence(Ordering::SeqCst);
        work.may_exist(|processor| self.is_watched(processor)) && self.wake_one()
    }

    /// Takes an idle processor, and the machine that has waited with it and now has none.
    pub fn take_idle(&self) -> Option<(Permit, usize)> {
        self.idle.take().map(|processor| self.popped(processor))
    }

    /// A processor that was popped, and the machine that waits with it.
    pub(crate) fn popped(&self, processor: usize) -> (Permit, usize) {
        // SAFETY: popped: no other thread has it, and the push by its last machine happened before.
        let permit = unsafe { Permit::from_number(processor) };
        (permit, self.attached(processor))
    }

    /// Returns whether a machine watches the processor.
    #[inline]
    pub fn is_watched(&self, processor: usize) -> bool {
        // ORDERING: Relaxed: a thread that relies on it has published, or gone idle, and passed a
        // fence: see `end_watches`.
        self.watchers[processor].load(Ordering::Relaxed) != 0
    }

    /// Returns whether there is a task that a machine must be awake for: any, except for the only
    /// one of a watched processor that is not going `idle` itself.
    pub(crate) fn exists_unwatched(&self, work: &impl Work, idle: Option<usize>) -> bool {
        work.exists_beside(|processor| Some(processor) != idle && self.is_watched(processor))
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coordinator")
            .field("idle", &self.idle)
            .field("control", &self.control_word())
            .finish_non_exhaustive()
    }
}

/// A rarely written word that holds all that a running machine must notice between two tasks:
/// `stopping:1 | waiting:31 | unused:16 | active:16`.
///
/// Between two tasks a machine loads it and compares it with what it saw before. All machines share
/// its line, and it is written only when a thread comes back from a blocking call and finds no
/// processor, at a resize, and at the end.
#[derive(Debug)]
pub(crate) struct Control {
    word: CachePadded<AtomicU64>,
}

/// A value of the word: a machine compares two between any two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlWord(u64);

const ACTIVE: u64 = 0xffff;
const WAITING: u64 = 1 << 32;
const STOPPING: u64 = 1 << 63;

impl ControlWord {
    /// Processors with a smaller number may run; others are to be given up.
    #[inline]
    #[must_use]
    pub const fn active(self) -> usize {
        (self.0 & ACTIVE) as usize
    }

    /// Threads that are back from a blocking call and wait for a processor.
    #[inline]
    #[must_use]
    pub const fn waiting(self) -> usize {
        ((self.0 & !STOPPING) / WAITING) as usize
    }

    /// Returns whether the pool has been told to stop. A thread that has published work and
    /// [waked one](Coordinator::wake_one) before it hears `false` can rely on it that the work is
    /// run: the fence in there is a partner of the one in [`stop`](Coordinator::stop).
    #[must_use]
    pub const fn is_stopping(self) -> bool {
        self.0 & STOPPING != 0
    }

    /// Returns whether the processor is to be given up.
    #[inline]
    #[must_use]
    pub const fn is_surplus(self, processor: usize) -> bool {
        processor >= self.active()
    }

    /// Returns what a machine that has seen this word should see again: the same, and none waiting.
    #[must_use]
    pub const fn settled(self) -> Self {
        Self(self.0 & (STOPPING | ACTIVE))
    }
}

impl Control {
    pub(crate) fn new(active: usize) -> Self {
        Self {
            word: CachePadded::new(AtomicU64::new(active as u64 & ACTIVE)),
        }
    }

    /// Returns what it says now.
    #[inline]
    pub(crate) fn read(&self) -> ControlWord {
        // ORDERING: Relaxed: for "either you see my word or I see your processor" both sides have
        // fences. A thread that sees that the pool stops, and ends it, passes the fence of
        // `quiescent_snapshot` before it looks at the queues: that one is the partner of the
        // Release in `stop`.
        ControlWord(self.word.load(Ordering::Relaxed))
    }

    /// Says that no task is awaited any more.
    pub(crate) fn stop(&self) {
        // ORDERING: Release: a thread that ends the pool has seen what was made runnable before the
        // stop: see `read`. That it is needed loom cannot show, as it does not switch threads
        // before the fence that follows in `Coordinator::stop`; the kernel `stop` shows it.
        self.word.fetch_or(STOPPING, Ordering::Release);
    }

    /// Counts one more that waits. Under the lock of `Synced`.
    pub(crate) fn add_waiting(&self) {
        // ORDERING: Relaxed: the list of waiters is under the lock; the handshake with a processor
        // that goes idle has fences (see `Coordinator::try_regain`).
        self.word.fetch_add(WAITING, Ordering::Relaxed);
    }

    /// Counts one less that waits. Under the lock of `Synced`.
    pub(crate) fn remove_waiting(&self) {
        // ORDERING: Relaxed: as above. An RMW, as every write of the word, so that `stop`'s release
        // sequence goes on.
        self.word.fetch_sub(WAITING, Ordering::Relaxed);
    }

    /// Changes the number of active processors. Under the lock of `Synced`, as all changes of it.
    pub(crate) fn set_active(&self, active: usize) {
        let before = self.read().active() as u64;
        // ORDERING: Relaxed: as in `add_waiting`. The field is changed by its difference, which
        // leaves the others alone.
        self.word
            .fetch_add((active as u64).wrapping_sub(before), Ordering::Relaxed);
    }
}

/// The queues, as the protocol sees them.
pub trait Work {
    /// Returns whether any queue holds a task. Taking a task must be a Release: a thread that no
    /// longer sees the task sees, after an Acquire fence, what its taker did before.
    fn exists(&self) -> bool {
        self.exists_beside(|_| false)
    }

    /// Returns whether a task exists beside the only one in the deque of a `watched` processor.
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool;

    /// Returns whether a thread that looks for a task may find one: as `exists_beside`, but where
    /// that takes long to say, the answer is yes.
    fn may_exist(&self, watched: impl Fn(usize) -> bool) -> bool {
        self.exists_beside(watched)
    }

    /// Moves what the deque of a processor that is given up holds to the global queue, oldest
    /// first. Returns whether there was anything.
    fn evacuate(&self, permit: &Permit) -> bool;
}

#[cfg(test)]
mod tests {
    use super::Control;

    #[test]
    fn each_field_changes_by_itself() {
        let control = Control::new(300);
        control.add_waiting();
        control.add_waiting();
        control.set_active(1);
        assert!(!control.read().is_stopping());
        control.stop();
        control.remove_waiting();
        control.set_active(65_534);
        let word = control.read();
        assert!(word.is_stopping());
        assert_eq!((word.waiting(), word.active()), (1, 65_534));
        assert!(word.is_surplus(65_534) && !word.is_surplus(65_533));
        let settled = word.settled();
        assert!(settled.is_stopping() && settled != word);
        assert_eq!((settled.waiting(), settled.active()), (0, 65_534));
        control.remove_waiting();
        assert_eq!(control.read(), settled);
    }
}
