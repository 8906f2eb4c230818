//! The errors, with their reasons, and the reason why a worker ended.

use std::error::Error;
use std::{fmt, io};

use crate::data::Request;

/// Implements `Display` by a text for each variant.
macro_rules! texts {
    ($($error:ident $(<$T:ident>)? { $($variant:ident $fields:tt => $text:literal,)* })*) => {$(
        impl $(<$T>)? fmt::Display for $error $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant $fields => write!(f, $text),)*
                }
            }
        }
    )*};
}

pub(crate) use texts;

/// The reason why there is no such scheduler.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// An engine has at most 64, over its whole life.
    TooMany,
    /// The engine has been terminated.
    Terminated,
    /// The system refuses the thread.
    Thread(io::Error),
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

/// The reason why a worker cannot be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveError {
    /// It was told to end before.
    Ending,
    /// It has ended.
    Ended,
}

impl Error for RemoveError {}

/// The error of a call that blocks, on a thread that drives a scheduler of the engine: that may be
/// the one that it would wait for. Call it from another thread; a worker waits by its
/// [`Context`](crate::Context).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledFromInside;

/// A task that a worker refuses, handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// The worker does not list its type.
    Unlisted(T),
    /// The worker has ended.
    Ended(T),
    /// As many tasks wait for the worker as may.
    Full(T),
}

/// A task that cannot be waited for, handed back if it was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitError<T> {
    /// The worker itself lists its type, and would wait for itself.
    Own(T),
    /// The worker must end. The task is on its way.
    Ending,
    /// The calling thread drives a scheduler of the engine: see [`CalledFromInside`].
    CalledFromInside(T),
    /// The time is up. The task is on its way.
    TimedOut,
}

/// A task that cannot run inside another one, handed back if it did not run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NestedError<T> {
    /// The worker has no function for its type: it does not list the type, or receives it.
    Unlisted(T),
    /// It takes data that the task around it has, and one of them changes it.
    Conflict(T, Request),
    /// The worker must end.
    Ending(T),
    /// The worker is not bound to its data yet: it is in `setup_owner`.
    Early(T),
    /// It panicked. The worker ends when the task around it does.
    Panicked,
}

/// The reason why data cannot be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockDataError {
    /// The worker does not list it.
    Unlisted(Request),
    /// It is shared, and must only be read.
    ReadOnly(Request),
    /// Two parameters exclude each other, or a parameter excludes data that a function around has.
    Conflict(Request),
    /// The worker must end.
    Ending,
}

/// The reason why there is no task to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveError {
    /// The worker does not receive this type.
    Unlisted,
    /// The worker must end.
    Ending,
}

/// The worker must end: it should return soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending;

/// Implements `Debug` by the name of the variant, whatever the task is.
macro_rules! debug_without_the_task {
    ($($error:ident: $($variant:ident)*;)*) => {$(
        impl<T> fmt::Debug for $error<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                })
            }
        }

        impl<T> Error for $error<T> {}
    )*};
}

debug_without_the_task! {
    SendError: Unlisted Ended Full;
    WaitError: Own Ending CalledFromInside TimedOut;
    NestedError: Unlisted Conflict Ending Early Panicked;
}

impl fmt::Display for CalledFromInside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "called on a scheduler's own thread, which would wait for itself: \
             call it from another one",
        )
    }
}

impl Error for CalledFromInside {}

impl Error for LockDataError {}

impl Error for ReceiveError {}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the worker is to end")
    }
}

impl Error for Ending {}

/// The reason why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Its own `run` returned.
    Finished,
    /// It was removed.
    Removed,
    /// Its scheduler, or the engine, was terminated.
    Terminated,
    /// The owner destroyed data, of this type, that it uses.
    OwnerGone(&'static str),
    /// A task panicked while it changed data of this type, and left it half changed.
    Poisoned(&'static str),
    /// It lists data of this type as its own scheduler's, and the owner is in another one.
    NotInGroup(&'static str),
    /// Its code panicked.
    Panicked {
        /// The task's type, or the part of the worker's life.
        during: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// There was no memory for its stack.
    NoStack,
}

texts! {
    StartError {
        TooMany {} => "an engine has 64 schedulers at most",
        Terminated {} => "the engine has been terminated",
        Thread(error) => "the system gives no thread: {error}",
    }
    RemoveError {
        Ending {} => "it was told to end before",
        Ended {} => "it has ended",
    }
    SendError<T> {
        Unlisted(_) => "the worker does not list the task's type",
        Ended(_) => "the worker has ended",
        Full(_) => "as many tasks wait for the worker as may",
    }
    WaitError<T> {
        Own(_) => "the worker lists the task's type, and would wait for itself",
        Ending {} => "{Ending}",
        CalledFromInside(_) => "{CalledFromInside}",
        TimedOut {} => "the time is up",
    }
    NestedError<T> {
        Unlisted(_) => "the worker has no function for the task's type",
        Conflict(_, _) => "the task takes what the task around it has",
        Ending(_) => "{Ending}",
        Early(_) => "the worker is not bound to its data yet",
        Panicked {} => "the task panicked",
    }
    LockDataError {
        Unlisted(data) => "the worker does not list {data}",
        ReadOnly(data) => "{data} is shared: it may only be read",
        Conflict(data) => "{data} is taken already",
        Ending {} => "{Ending}",
    }
    ReceiveError {
        Unlisted {} => "the worker does not receive tasks of that type",
        Ending {} => "{Ending}",
    }
    Exit {
        Finished {} => "it has finished",
        Removed {} => "it was removed",
        Terminated {} => "its scheduler was terminated",
        OwnerGone(data) => "the owner of {data} has ended",
        Poisoned(data) => "a task panicked while it changed {data}",
        NotInGroup(data) => "the owner of {data} is in another scheduler",
        Panicked { during, message } => "it panicked in {during}: {message}",
        NoStack {} => "there was no memory for its stack",
    }
}
