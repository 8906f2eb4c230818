//! The exit reason of a process as bytes: a number, and a text or what it was linked to.

use std::str;
use std::sync::Arc;

use filch_scheduler::ExitReason;

use crate::wire::{self, Garbage, take_pid};

/// Longer texts are cut, as a panic's message may be anything.
const LONGEST: usize = 4096;

const DONE: u8 = 0;
const FAILED: u8 = 1;
const PANICKED: u8 = 2;
const WAITS_FOR_NOTHING: u8 = 3;
const TERMINATED: u8 = 4;
const SHUT_DOWN: u8 = 5;
const LINKED: u8 = 6;
const NOT_STARTED: u8 = 7;
const NO_SUCH_PROCESS: u8 = 8;

pub(super) fn put(reason: &ExitReason, bytes: &mut Vec<u8>) {
    match reason {
        ExitReason::Done => bytes.push(DONE),
        ExitReason::Failed(text) => put_text(FAILED, text, bytes),
        ExitReason::Panicked(text) => put_text(PANICKED, text, bytes),
        ExitReason::WaitsForNothing => bytes.push(WAITS_FOR_NOTHING),
        ExitReason::Terminated => bytes.push(TERMINATED),
        ExitReason::ShutDown => bytes.push(SHUT_DOWN),
        ExitReason::Linked { origin, reason } => {
            bytes.push(LINKED);
            bytes.extend_from_slice(&origin.to_bits().to_le_bytes());
            put(reason, bytes);
        }
        ExitReason::NotStarted(text) => put_text(NOT_STARTED, text, bytes),
        ExitReason::NoSuchProcess => bytes.push(NO_SUCH_PROCESS),
        // A reason that this format does not know.
        other => put_text(FAILED, &other.to_string(), bytes),
    }
}

fn put_text(number: u8, text: &str, bytes: &mut Vec<u8>) {
    bytes.push(number);
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    bytes.extend_from_slice(&text.as_bytes()[..end]);
}

/// Takes all remaining bytes.
pub(super) fn take(bytes: &mut &[u8]) -> Result<ExitReason, Garbage> {
    let [number] = wire::take(bytes)?;
    Ok(match number {
        DONE => ExitReason::Done,
        FAILED => ExitReason::Failed(take_text(bytes)?),
        PANICKED => ExitReason::Panicked(take_text(bytes)?),
        WAITS_FOR_NOTHING => ExitReason::WaitsForNothing,
        TERMINATED => ExitReason::Terminated,
        SHUT_DOWN => ExitReason::ShutDown,
        LINKED => {
            let origin = take_pid(bytes)?;
            // Once only: else a stranger could send a reason nested deeper than the stack.
            if bytes.first() == Some(&LINKED) {
                return Err(Garbage::Malformed);
            }
            let reason = take(bytes)?.into();
            ExitReason::Linked { origin, reason }
        }
        NOT_STARTED => ExitReason::NotStarted(take_text(bytes)?),
        NO_SUCH_PROCESS => ExitReason::NoSuchProcess,
        _ => return Err(Garbage::Malformed),
    })
}

fn take_text(bytes: &mut &[u8]) -> Result<Arc<str>, Garbage> {
    let text = std::mem::take(bytes);
    str::from_utf8(text)
        .map(Arc::from)
        .map_err(|_| Garbage::Malformed)
}
