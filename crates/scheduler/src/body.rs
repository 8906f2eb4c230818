//! What a slot of the table holds of a process while it lives.

use std::time::Instant;

use crate::Protocol;
use crate::backlog::Backlog;
use crate::bond::Bonds;
use crate::exit::Exit;
use crate::resident::Resident;
use crate::signal::Item;

/// The process table, as this crate uses it.
pub(crate) type Table<P> = filch_process_table::Table<Body<P>, Item<P>, Exit<P>>;

/// One of its slots.
pub(crate) type Slot<P> = filch_process_table::Slot<Body<P>, Item<P>, Exit<P>>;

/// What runs in a slot. Only the worker that has the process touches it.
pub(crate) struct Body<P: Protocol> {
    pub(crate) process: Resident<P>,
    /// What it said at the end of its last step.
    pub(crate) waits: Waits,
    /// Whether the end of a linked process is an event for it.
    pub(crate) trap_exits: bool,
    /// What few have, in a box.
    pub(crate) held: Option<Box<Held<P>>>,
}

/// What the worker keeps for a process from turn to turn.
pub(crate) struct Held<P: Protocol> {
    /// What was drained before a step could have it.
    pub(crate) backlog: Backlog<P>,
    /// Whether there was more than a step is given, and it has not caught up since.
    pub(crate) behind: bool,
    /// Since when it has gone on so, step after step.
    pub(crate) since: Option<Instant>,
    /// Who must hear of its end.
    pub(crate) bonds: Bonds,
}

impl<P: Protocol> Body<P> {
    pub(crate) fn held(&mut self) -> &mut Held<P> {
        self.held.get_or_insert_with(|| {
            Box::new(Held {
                backlog: Backlog::new(),
                behind: false,
                since: None,
                bonds: Bonds::default(),
            })
        })
    }
}

/// What a process that is not running waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Its turn: it was submitted, or it goes on.
    Turn,
    /// The completion of a command.
    Commands,
    /// Any event.
    Events,
    /// To be woken, with an event or without.
    Wakes,
}
