//! The word: its bits, and their meaning for a process. No atomics here.

use core::fmt;

/// Unseen events: a message was pushed.
pub(crate) const MESSAGE: u32 = 1 << 0;
/// Unseen events: a completion was pushed.
pub(crate) const COMPLETION: u32 = 1 << 1;
/// Unseen events: the process was asked to end.
pub(crate) const CANCEL: u32 = 1 << 2;
/// A turn is owed without any event: the process was submitted, or it yielded.
pub(crate) const TURN: u32 = 1 << 3;
/// The same bit in a Complete word: a thread has the rest of the process.
pub(crate) const HELD: u32 = TURN;

/// The mask of awaited events lies this far above the pending flags, in the same order.
pub(crate) const AWAITS: u32 = 4;
/// The events that [`State::Blocked`] awaits.
const BLOCKED: u32 = (COMPLETION | CANCEL) << AWAITS;
/// The events that [`State::Idle`] awaits.
const IDLE: u32 = (MESSAGE | COMPLETION | CANCEL) << AWAITS;
/// A turn that is owed, and awaited: always Ready.
const OWED: u32 = (TURN << AWAITS) | TURN;

/// The life is over.
pub(crate) const COMPLETE: u32 = 1 << 8;
/// The place is vacated: nobody needs the remains of the life any more.
pub(crate) const VACATED: u32 = 1 << 9;

const PENDING_MASK: u32 = MESSAGE | COMPLETION | CANCEL | TURN;
const AWAITS_MASK: u32 = PENDING_MASK << AWAITS;

/// The state of a process in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum State {
    /// It is in exactly one run queue, or the caller that was told to enqueue it is about to put it
    /// there.
    Ready,
    /// Exactly one worker runs it.
    Running,
    /// It awaits completions of its yielded commands. A message does not wake it.
    Blocked,
    /// It awaits messages; a completion wakes it too.
    Idle,
    /// Its life is over, or has not begun.
    Complete,
}

/// The reason to wake a process. The event itself is in the process's queue; the word only says
/// that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A yielded command completed: wakes Blocked and Idle.
    Completion,
    /// A message was pushed: wakes Idle, not Blocked.
    Message,
    /// The process is asked to end: wakes Blocked and Idle.
    Cancel,
}

impl Reason {
    pub(crate) const fn flag(self) -> u32 {
        match self {
            Self::Message => MESSAGE,
            Self::Completion => COMPLETION,
            Self::Cancel => CANCEL,
        }
    }
}

/// The word at one moment.
///
/// A plain value: the process moves on while the caller looks at it.
///
/// ```
/// use filch_process_state::{ProcessState, Reason, State, Wake};
///
/// let process = ProcessState::new_ready();
/// process.start()?;
/// assert_eq!(process.wake(Reason::Message), Wake::Noted);
///
/// let now = process.snapshot();
/// assert_eq!(now.state(), State::Running);
/// assert!(now.is_pending(Reason::Message));
/// assert!(!now.awaits(Reason::Message), "a running process awaits nothing");
/// # Ok::<(), filch_process_state::IllegalTransition>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Snapshot(u32);

impl Snapshot {
    pub(crate) const READY: Self = Self(OWED);
    pub(crate) const RUNNING: Self = Self(0);
    /// A place owned by a thread, for a later `submit`.
    pub(crate) const VACANT: Self = Self(COMPLETE | VACATED | HELD);

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the state that the word encodes.
    pub const fn state(self) -> State {
        if self.is_ready() {
            State::Ready
        } else if self.is_complete() {
            State::Complete
        } else if self.is_running() {
            State::Running
        } else if self.awaits(Reason::Message) {
            State::Idle
        } else {
            State::Blocked
        }
    }

    /// Returns whether an awaited event has come. A process whose life is over awaits nothing.
    pub(crate) const fn is_ready(self) -> bool {
        (self.0 >> AWAITS) & self.0 & PENDING_MASK != 0
    }

    pub(crate) const fn is_running(self) -> bool {
        self.0 & (COMPLETE | AWAITS_MASK) == 0
    }

    pub(crate) const fn is_idle(self) -> bool {
        self.0 == IDLE
    }

    pub(crate) const fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }

    /// Returns whether the life is over and a thread has its queue.
    pub(crate) const fn is_in_hands(self) -> bool {
        self.is_complete() && self.0 & PENDING_MASK != 0
    }

    pub(crate) const fn is_vacated(self) -> bool {
        self.0 & VACATED != 0
    }

    /// Returns whether an event came since the turn began, or since the last drain of the disposal.
    pub(crate) const fn has_news(self) -> bool {
        self.0 & (MESSAGE | COMPLETION | CANCEL) != 0
    }

    /// Returns whether an event of this kind came since the last turn began. The turn that is
    /// running may have drained it.
    pub const fn is_pending(self, reason: Reason) -> bool {
        self.0 & reason.flag() != 0
    }

    /// Returns whether an event of this kind ends, or has ended, the process's wait.
    pub const fn awaits(self, reason: Reason) -> bool {
        self.0 & (reason.flag() << AWAITS) != 0
    }

    /// Returns whether a turn is owed without any event: the process was submitted, or it yielded.
    pub const fn is_owed_a_turn(self) -> bool {
        !self.is_complete() && self.0 & TURN != 0
    }

    /// Returns the word of a life that is over, and whose queue nobody has.
    pub(crate) const fn at_rest(self) -> Self {
        Self(self.0 & VACATED | COMPLETE)
    }

    /// Returns the word of a life that is over; the thread with its queue has seen all events.
    pub(crate) const fn held(self) -> Self {
        Self(self.at_rest().0 | HELD)
    }

    /// Returns the vacated word; the thread that has the queue has yet to see that.
    pub(crate) const fn vacated(self) -> Self {
        Self(self.0 | VACATED | MESSAGE)
    }

    /// Returns the word with `reason` pending.
    pub(crate) const fn woken(self, reason: Reason) -> Self {
        Self(self.0 | reason.flag())
    }

    /// Returns the word of a process that a worker lets wait for a completion.
    pub(crate) const fn blocked(self) -> Self {
        Self(self.0 | BLOCKED)
    }

    /// Returns the word of a process that a worker lets wait for any event.
    pub(crate) const fn idle(self) -> Self {
        Self(self.0 | IDLE)
    }

    /// Returns the word of a process that a worker lets go on at once.
    pub(crate) const fn yielded(self) -> Self {
        Self(self.0 | OWED)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("state", &self.state())
            .field("pending", &Flags(self.0))
            .field("awaits", &Flags(self.0 >> AWAITS))
            .finish()
    }
}

/// Prints the names of the flags that are set.
struct Flags(u32);

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (MESSAGE, "message"),
            (COMPLETION, "completion"),
            (CANCEL, "cancel"),
            (TURN, "turn"),
        ];
        let set = names.iter().filter(|(flag, _)| self.0 & flag != 0);
        f.debug_set().entries(set.map(|(_, name)| name)).finish()
    }
}
