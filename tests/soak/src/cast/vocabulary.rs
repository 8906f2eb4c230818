//! The protocol of a soak's processes: every value holds a token.

use std::fmt;
use std::sync::Arc;

use filch_scheduler::Protocol;

use crate::account::{Happening, Kind, Letter, Token, note};
use crate::cast::World;

/// The protocol.
#[derive(Debug)]
pub(crate) enum Soak {}

impl Protocol for Soak {
    type Input = Token;
    type Message = Letter;
    type Command = Errand;
    type Reply = Parcel;
    type Output = Parcel;
    type Error = Fault;
}

/// A reply or an output, with the number of its command or process.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) number: u64,
    _token: Token,
}

impl Parcel {
    pub(crate) fn new(kind: Kind, number: u64, is_bomb: bool) -> Self {
        Self {
            number,
            _token: Token::maybe_bomb(kind, is_bomb),
        }
    }
}

/// An error, which may panic when it is printed.
#[derive(Debug)]
pub(crate) struct Fault {
    is_unprintable: bool,
    _token: Token,
}

impl Fault {
    pub(crate) fn new(is_unprintable: bool) -> Self {
        Self {
            is_unprintable,
            _token: Token::new(Kind::Error),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unprintable && !std::thread::panicking() {
            note(Happening::DestructorPanicked);
            panic!("soak: an error that cannot be printed");
        }
        f.write_str("a planned error")
    }
}

/// The way in which a command is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Answer,
    Fail,
    Panic,
    AnswerThenPanic,
    Abandon,
    /// It is put on the shelf, from where other threads take it.
    Shelve,
    /// It is done on one of the blocking threads.
    Thread,
    ThreadFails,
    ThreadPanics,
    /// A timer answers, that many microseconds later.
    Later(u64),
    /// It is put on the shelf, with a deadline.
    Deadline(u64),
}

/// A command.
pub(crate) struct Errand {
    pub(crate) way: Way,
    pub(crate) reply_bomb: bool,
    pub(crate) world: Arc<World>,
    pub(crate) _token: Token,
}
