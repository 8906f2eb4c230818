#![doc = include_str!("../README.md")]

/// stub: thread side; Send, not Sync, not Clone
#[derive(Debug)]
pub struct Parker(core::marker::PhantomData<*mut ()>);
// SAFETY: stub
unsafe impl Send for Parker {}
/// stub: Clone, Send, Sync
#[derive(Debug, Clone)]
pub struct Unparker;

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// New, without token.
    pub fn new() -> Self {
        todo!()
    }
    /// Blocks until there is a token, and takes it.
    pub fn park(&self) {
        todo!()
    }
    /// Blocks until token or timeout; true if a token was taken.
    #[cfg(not(loom))]
    pub fn park_timeout(&self, _timeout: core::time::Duration) -> bool {
        todo!()
    }
    /// The other end.
    pub fn unparker(&self) -> Unparker {
        todo!()
    }
}
impl Unparker {
    /// Leaves a token; true if it woke a sleeper.
    pub fn unpark(&self) -> bool {
        todo!()
    }
}

/// stub
#[derive(Debug)]
pub struct AdaptiveSpinner;
/// stub
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Spin {
    /// Look again.
    Again,
    /// Enough: block.
    Block,
}
impl Default for AdaptiveSpinner {
    fn default() -> Self {
        Self::new()
    }
}
impl AdaptiveSpinner {
    /// Rounds 0–3 tight, 4–15 yield, 16 block.
    pub fn new() -> Self {
        todo!()
    }
    /// One processor: says Block at once.
    pub fn none() -> Self {
        todo!()
    }
    /// Spends one round.
    pub fn spin(&mut self) -> Spin {
        todo!()
    }
    /// Starts over: something was found.
    pub fn reset(&mut self) {
        todo!()
    }
    /// Rounds spent since the last reset.
    pub fn rounds(&self) -> u32 {
        todo!()
    }
}
