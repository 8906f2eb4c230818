//! The answer to a caller: a value that comes when the scheduler has it.

use std::sync::Arc;

use crate::error::{JobError, Stopped};

/// The scheduler's answer: await it in a task, or wait for it in a thread, but never in a waker
/// that the scheduler calls.
pub type Answer<T, E = Stopped> = filch_promise::Answer<T, E>;

/// The result of a scheduled job, when there is one.
pub type Pending<R> = Answer<Arc<R>, JobError>;

/// The scheduler's end of an answer. A drop without an answer says that the scheduler was stopped.
pub(crate) type Reply<T, E> = filch_promise::Reply<T, E, Stopped>;
