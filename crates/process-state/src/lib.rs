#![doc = include_str!("../README.md")]
#![no_std]

/// stub
#[derive(Debug)]
pub struct ProcessState;
/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Queued or about to be.
    Ready,
    /// A worker runs it.
    Running,
    /// Awaits completions.
    Blocked,
    /// Awaits messages.
    Idle,
    /// Over.
    Complete,
}
/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A yield completed.
    Completion,
    /// A message was pushed.
    Message,
    /// The process shall end.
    Cancel,
}
/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Wake {
    /// It became Ready by this call: the caller must enqueue it, exactly once.
    Enqueue,
    /// Somebody else has it or will see the event.
    Noted,
    /// It has completed.
    Refused,
}
/// stub: what a worker must do after it let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Release {
    /// It is Ready (a wake-up came while it ran, or it yielded): the caller must enqueue it.
    Enqueue,
    /// It waits; whoever wakes it will enqueue it.
    Waits,
}
/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalTransition {
    /// The state found.
    pub from: State,
}
impl ProcessState {
    /// Ready, as submitted.
    pub fn new_ready() -> Self {
        todo!()
    }
    /// Complete: an empty slot.
    pub fn new_complete() -> Self {
        todo!()
    }
    /// Complete → Ready: a new life. Exclusive access.
    pub fn submit(&self) -> Result<(), IllegalTransition> {
        todo!()
    }
    /// Ready → Running.
    pub fn start(&self) -> Result<(), IllegalTransition> {
        todo!()
    }
    /// Any state: an event was pushed.
    pub fn wake(&self, _reason: Reason) -> Wake {
        todo!()
    }
    /// Running → Ready (status continue).
    pub fn yield_now(&self) -> Result<Release, IllegalTransition> {
        todo!()
    }
    /// Running → Blocked, or Ready if a completion or cancel came meanwhile.
    pub fn block(&self) -> Result<Release, IllegalTransition> {
        todo!()
    }
    /// Running → Idle, or Ready if anything came meanwhile.
    pub fn idle(&self) -> Result<Release, IllegalTransition> {
        todo!()
    }
    /// Running → Complete.
    pub fn complete(&self) -> Result<(), IllegalTransition> {
        todo!()
    }
    /// A snapshot.
    pub fn state(&self) -> State {
        todo!()
    }
}
