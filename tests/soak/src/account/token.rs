//! Tokens: every value given to the code under test holds one, so that a lost one is noticed. And
//! the counters and flags of the accounts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::panicking;

use crate::account::{Happening, note};

/// A number that any thread changes.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicI64);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    /// Adds to it; returns the value before.
    pub(crate) fn add(&self, by: i64) -> i64 {
        // ORDERING: Relaxed, here and below, on purpose: the accounts order nothing, or they would
        // hide what is not ordered in the code under test.
        self.0.fetch_add(by, Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A flag that any thread changes.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Raises it; returns true if it was up before.
    pub(crate) fn raise(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Locks. Panics are common here, and none of them leaves the accounts half-written.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kind of value that holds a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Message,
    Command,
    Reply,
    Output,
    Error,
    Input,
    Process,
    Future,
    Closure,
}

const KINDS: [Kind; 9] = [
    Kind::Message,
    Kind::Command,
    Kind::Reply,
    Kind::Output,
    Kind::Error,
    Kind::Input,
    Kind::Process,
    Kind::Future,
    Kind::Closure,
];

/// The number of living tokens of each kind.
static ALIVE: [Count; KINDS.len()] = [const { Count::new() }; KINDS.len()];

/// A token, counted from its making to its destructor, which panics if it is a bomb.
#[derive(Debug)]
pub(crate) struct Token {
    kind: Kind,
    is_bomb: bool,
}

impl Token {
    pub(crate) fn new(kind: Kind) -> Self {
        Self::maybe_bomb(kind, false)
    }

    pub(crate) fn maybe_bomb(kind: Kind, is_bomb: bool) -> Self {
        ALIVE[kind as usize].add(1);
        Self { kind, is_bomb }
    }

    pub(crate) fn is_bomb(&self) -> bool {
        self.is_bomb
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        ALIVE[self.kind as usize].add(-1);
        // A second panic while the first one unwinds would abort the program, by Rust's rules.
        if self.is_bomb && !panicking() {
            note(Happening::DestructorPanicked);
            panic!("soak: the destructor of a {:?}", self.kind);
        }
    }
}

/// Returns the kinds that have living tokens, with their numbers.
pub(crate) fn alive() -> Vec<(Kind, i64)> {
    let counts = KINDS.iter().map(|&kind| (kind, ALIVE[kind as usize].get()));
    counts.filter(|(_, count)| *count != 0).collect()
}

/// Drops a value that may be a bomb.
pub(crate) fn dispose<T>(value: T) {
    // The panic was counted when it began.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}
