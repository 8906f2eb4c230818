//! The end of a turn: letting go of a process that lives on.

use filch_process_state::LetGo;

use crate::Protocol;
use crate::table::Slot;
use crate::table::body::Waits;
use crate::worker::budget::Backlogged;

/// What became of a process that was let go.
pub(crate) enum After {
    /// It waits; another worker may have it already.
    Waits,
    /// It is Ready: something came while it ran, or it has used up its budget of events, and not
    /// yet its slice.
    Again,
    /// It is Ready: it has more to do, and others come first.
    GaveWay,
}

/// Lets go of a process that has perhaps not caught up with its events. Apart from `let_go`, as
/// most have.
///
/// It is not given the body: a reference that is an argument would have to stay exclusive until
/// this returns, and the process is another worker's before that.
#[cold]
#[inline(never)]
pub(crate) fn let_go_backlogged<P: Protocol>(
    slot: &Slot<P>,
    waits: Waits,
    backlogged: Backlogged,
) -> After {
    if backlogged == Backlogged::No {
        return let_go(slot, waits);
    }
    match let_go(slot, Waits::Turn) {
        After::GaveWay if backlogged == Backlogged::Continue => After::Again,
        after => after,
    }
}

/// Lets go of the process. From the RMW on it may be running on another worker.
pub(crate) fn let_go<P: Protocol>(slot: &Slot<P>, waits: Waits) -> After {
    let let_go = match waits {
        Waits::Turn => slot.state.yield_now(),
        Waits::Commands => slot.state.block(),
        Waits::Events | Waits::Wakes => slot.state.idle(),
    };
    match let_go {
        Ok(LetGo::Waits) => After::Waits,
        Ok(LetGo::Enqueue) if waits == Waits::Turn => After::GaveWay,
        Ok(LetGo::Enqueue) => After::Again,
        Err(error) => {
            unreachable!("only the worker that made it Running lets go of it: {error}")
        }
    }
}
