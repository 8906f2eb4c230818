//! Who holds which processor: machines that rest with theirs, those that stand by without one, and
//! the ways in which a processor changes hands. The arguments are in
//! [`architecture`](crate::architecture).
//!
//! A processor is, at any time, in one of four places, and each way between them is a
//! happens-before edge:
//!
//! | where its [`Hold`] is | how it gets away from there |
//! |---|---|
//! | with a machine, which runs tasks | the machine gives it away |
//! | on the idle stack, with a machine attached that waits | a pop: one winner (Release and Acquire on the word) |
//! | in a machine's grant | that machine finds it (Release and Acquire on the grant) |
//! | at rest in the roster (not started, retired, or the pool is over) | under the roster's lock |
//!
//! And a machine without a processor is attached to one on the stack, or a spare or a waiter in the
//! roster, or in a blocking call, or it leaves. Only who has taken it from there may grant it
//! anything, so it has one grant at most.

use std::fmt;
use std::sync::OnceLock;

use filch_parker::{Parker, Unparker};
use filch_sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::{CachePadded, Mutex, MutexGuard};

use crate::bond::MOST_BOUND;
use crate::hold::Hold;
use crate::idle::Idle;
use crate::notice::{Board, Notice};
use crate::quiescence::Quiet;
use crate::roster::Roster;
use crate::vigil::Vigils;

/// The queues, as far as the protocol must know them.
pub trait Work {
    /// Whether any queue holds a task. Taking a task must be a Release: whoever no longer sees it,
    /// sees after an Acquire fence what its taker did before.
    fn exists(&self) -> bool {
        self.exists_beside(|_| false)
    }

    /// The same, but the only task in the deque of a processor that is `watched` does not count.
    fn exists_beside(&self, watched: impl Fn(usize) -> bool) -> bool;

    /// Moves what the deque of a processor that is given up holds to the global queue, oldest
    /// first; whether that was anything.
    fn evacuate(&self, hold: &Hold) -> bool;
}

/// The machines and the processors of a pool, and who has whom.
pub struct Crew {
    pub(crate) idle: Idle,
    pub(crate) board: Board,
    /// For each processor, the machine that holds it, or waits for it while it is on the idle
    /// stack. Written by the holder: at the latest before it gives the processor away.
    pub(crate) attached: Box<[AtomicU32]>,
    /// For each processor, how often in a row it went to a machine that was back from a blocking
    /// call. Written by its holder.
    pub(crate) streaks: Box<[AtomicU32]>,
    /// By number. A machine's place is made when its first thread is started, and used again by
    /// later ones.
    pub(crate) members: Box<[OnceLock<Member>]>,
    /// Machines that there may be at most, bound ones and those aside that have been told to leave.
    pub(crate) limit: usize,
    roster: Mutex<Roster>,
    /// Machines in blocking calls without their processor, those included that are back and wait
    /// for one.
    pub(crate) away: CachePadded<AtomicUsize>,
    /// Processors that are not at rest.
    pub(crate) live: CachePadded<AtomicUsize>,
    pub(crate) quiet: Quiet,
    pub(crate) vigils: Vigils,
}

/// What others need of a machine.
pub(crate) struct Member {
    unparker: Unparker,
    /// 0, or what the machine must do next: see [`Turn::pack`].
    grant: AtomicU32,
    /// A [`Doing`], and above it how often it has changed, for people. Written by the machine's own
    /// thread.
    doing: AtomicU32,
    /// What the task that it runs is called, or 0; for people, too.
    pub(crate) label: AtomicU64,
}

/// What a machine without a processor is told to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// Run on this processor.
    Run(Hold),
    /// The same; and it counts as searching already.
    Search(Hold),
    /// Leave.
    Leave,
}

impl Turn {
    /// `processor + 1 | searching:1`, where 1 means to leave.
    fn pack(self) -> u32 {
        match self {
            Self::Leave => 1,
            Self::Run(hold) => (hold.into_number() as u32 + 1) << 1,
            Self::Search(hold) => (hold.into_number() as u32 + 1) << 1 | 1,
        }
    }
}

/// What a machine is doing, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Doing {
    Gone,
    Runs,
    Parked,
    Blocks,
    Waits,
}

impl Doing {
    /// The bits of a word that it takes.
    const MASK: u32 = 7;
}

impl Member {
    pub(crate) fn new(parker: &Parker) -> Self {
        Self {
            unparker: parker.unparker(),
            grant: AtomicU32::new(0),
            doing: AtomicU32::new(Doing::Gone as u32),
            label: AtomicU64::new(0),
        }
    }

    pub(crate) fn set(&self, doing: Doing) {
        // ORDERING: Relaxed: for people.
        let changes = self.doing.load(Ordering::Relaxed) & !Doing::MASK;
        let changed = changes.wrapping_add(Doing::MASK + 1) | doing as u32;
        // ORDERING: Relaxed: as above.
        self.doing.store(changed, Ordering::Relaxed);
    }

    /// What it is doing, and a number that is another one when it has done something else in
    /// between.
    pub(crate) fn doing(&self) -> (Doing, u32) {
        // ORDERING: Relaxed: for people.
        let word = self.doing.load(Ordering::Relaxed);
        let doing = [Doing::Runs, Doing::Parked, Doing::Blocks, Doing::Waits]
            .into_iter()
            .find(|&known| known as u32 == word & Doing::MASK)
            .unwrap_or(Doing::Gone);
        (doing, word)
    }

    pub(crate) fn unpark(&self) {
        let _ = self.unparker.unpark();
    }

    /// Tells the machine, which has no other grant, and nobody else may give it one.
    fn grant(&self, turn: u32) {
        // ORDERING: Release, partner of the Acquire in `turn`: whatever was done on the processor
        // has happened. The token alone does not say so: the machine may find the grant after some
        // older token.
        self.grant.store(turn, Ordering::Release);
        self.unpark();
    }
}

impl Crew {
    /// `processors` places, of which `active` are to be used, and at most `threads` machines, bound
    /// ones aside. All processors are at rest.
    pub fn new(processors: usize, active: usize, threads: usize, spares: usize) -> Self {
        Self {
            idle: Idle::new(processors),
            board: Board::new(active),
            attached: (0..processors).map(|_| AtomicU32::new(0)).collect(),
            streaks: (0..processors).map(|_| AtomicU32::new(0)).collect(),
            members: (0..threads + processors + MOST_BOUND)
                .map(|_| OnceLock::new())
                .collect(),
            limit: threads,
            roster: Mutex::new(Roster::new(processors, spares)),
            away: CachePadded::new(AtomicUsize::new(0)),
            live: CachePadded::new(AtomicUsize::new(0)),
            quiet: Quiet::new(),
            vigils: Vigils::new(processors),
        }
    }

    /// What machines must notice.
    #[inline]
    pub fn notice(&self) -> Notice {
        self.board.read()
    }

    pub(crate) fn roster(&self) -> MutexGuard<'_, Roster> {
        crate::lock(&self.roster)
    }

    pub(crate) fn member(&self, machine: usize) -> &Member {
        match self.members[machine].get() {
            Some(member) => member,
            None => unreachable!("a machine's place is made before its thread is started"),
        }
    }

    /// The machine that holds the processor, or waits for it.
    pub(crate) fn attached(&self, processor: usize) -> usize {
        // ORDERING: Relaxed: whoever acts on it has popped the processor, whose last holder wrote
        // it before the push.
        self.attached[processor].load(Ordering::Relaxed) as usize
    }

    /// Gives a machine that nobody else can reach its turn.
    pub(crate) fn give(&self, machine: usize, turn: Turn) {
        if let Turn::Run(hold) | Turn::Search(hold) = &turn {
            // ORDERING: Relaxed: released with the grant.
            self.attached[hold.processor()].store(machine as u32, Ordering::Relaxed);
        }
        self.member(machine).grant(turn.pack());
    }

    /// What the machine is told to do next, if it has been told.
    pub fn turn(&self, machine: usize) -> Option<Turn> {
        let member = self.member(machine);
        // ORDERING: Acquire, partner of the Release in `grant`.
        let turn = member.grant.load(Ordering::Acquire);
        if turn == 0 {
            return None;
        }
        // ORDERING: Relaxed: the next grant comes after this machine has been listed somewhere
        // again, which is an edge.
        member.grant.store(0, Ordering::Relaxed);
        let Some(processor) = (turn >> 1).checked_sub(1) else {
            return Some(Turn::Leave);
        };
        // SAFETY: whoever granted it made the number from the hold, once, and that happened before
        // (Acquire above). The grant was ours alone to take, and has just been taken.
        let hold = unsafe { Hold::from_number(processor as usize) };
        Some(if turn & 1 == 1 {
            Turn::Search(hold)
        } else {
            Turn::Run(hold)
        })
    }

    /// Blocks until the machine is told what to do next.
    pub fn wait(&self, machine: usize, parker: &Parker) -> Turn {
        loop {
            if let Some(turn) = self.turn(machine) {
                return turn;
            }
            // A token may be an old one, left by a grant that was found without parking.
            parker.park();
        }
    }

    /// Work was published: wakes a processor for it, if one is idle and none is searching.
    #[inline]
    pub fn wake_one(&self) -> bool {
        self.wake_one_unless(|| false)
    }

    /// The same, unless the work turns out to be `covered`: see [`Idle::processor_to_wake`].
    #[inline]
    pub(crate) fn wake_one_unless(&self, covered: impl FnOnce() -> bool) -> bool {
        let Some(processor) = self.idle.processor_to_wake(covered) else {
            return false;
        };
        self.send_to_search(processor);
        true
    }

    /// Wakes the machine that waits with a processor which was popped for that.
    #[inline(never)]
    fn send_to_search(&self, processor: usize) {
        // SAFETY: popped: nobody else has it, and its last holder's push happened before.
        let hold = unsafe { Hold::from_number(processor) };
        // It waits for just this processor; we are the one who may tell it.
        self.give(self.attached(processor), Turn::Search(hold));
    }

    /// A machine that counts as searching has found something, and goes to run it. If it was the
    /// last one, producers have relied on it: it looks once more, and wakes another for what is
    /// left. Whether it did.
    pub fn stop_searching(&self, work: &impl Work) -> bool {
        if !self.idle.stop_searching() {
            return false;
        }
        // ORDERING: partner of the producer's fence in `processor_to_wake`. Either the producer
        // sees that nobody searches any more, or we see its task. A wake-up without the look would
        // be right, too; but when a single task comes, it would be in vain, and the task would wait
        // for it.
        fence(Ordering::SeqCst);
        self.exists_unwatched(work, None) && self.wake_one()
    }

    /// Takes an idle processor, and the machine that has waited with it and now has none.
    pub fn take_idle(&self) -> Option<(Hold, usize)> {
        let processor = self.idle.take()?;
        // SAFETY: popped, as above.
        let hold = unsafe { Hold::from_number(processor) };
        Some((hold, self.attached(processor)))
    }

    /// The processor of `hold` goes idle, and `machine` waits for it. The caller must not use it
    /// any more; if it is that machine, it must wait for its turn.
    pub fn rest(&self, hold: Hold, machine: usize, searching: bool, work: &impl Work) {
        let processor = hold.into_number();
        // ORDERING: Relaxed: released by `go_idle`.
        self.attached[processor].store(machine as u32, Ordering::Relaxed);
        self.idle.go_idle(processor, searching);
        // The second look: what was published before our name was on the list is ours to see. Being
        // on the list, we do not take it: we call for a searcher as a producer would, and are the
        // first to be called. What is in our own deque nobody comes for by himself any more,
        // watched or not.
        if self.exists_unwatched(work, Some(processor)) {
            self.wake_one();
        }
        // Whoever came back from a blocking call or resized the pool has written it on the board,
        // passed a fence, and looked for idle processors: one of us sees the other. (Who has
        // stopped it: see `announce_quiescence`.)
        let notice = self.notice();
        if notice.is_surplus(processor) {
            self.sweep(work);
        }
        if notice.waiting > 0 {
            self.serve(&mut self.roster());
        }
        self.announce_quiescence(work);
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew")
            .field("idle", &self.idle)
            .field("notice", &self.notice())
            .finish_non_exhaustive()
    }
}
