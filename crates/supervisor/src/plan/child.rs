//! A child, its names, and its state, as the plan knows them.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_scheduler::ExitReason;

use crate::settings::{Restart, Shutdown};

/// The number of a child of one supervisor, in the order in which they were added. A child keeps it
/// when it is restarted; no other child gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildId(pub(crate) u64);

impl ChildId {
    pub(crate) const FIRST: Self = Self(0);
    pub(crate) const LAST: Self = Self(u64::MAX);
}

impl fmt::Display for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One life of a child, from its start to its end: a number that its supervisor never gives twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Life(pub(crate) u64);

/// The child of a request: `"ledger".into()`, or its [`ChildId`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildRef {
    /// The child of that name.
    Name(Arc<str>),
    /// The child with that id.
    Id(ChildId),
}

impl From<&str> for ChildRef {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<ChildId> for ChildRef {
    fn from(id: ChildId) -> Self {
        Self::Id(id)
    }
}

impl fmt::Display for ChildRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Id(id) => id.fmt(f),
        }
    }
}

/// A child's settings. `M` makes its processes; the plan knows nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec<M> {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) restart: Restart,
    pub(crate) shutdown: Shutdown,
    /// The limit of its start.
    pub(crate) start: Option<Duration>,
    pub(crate) make: M,
}

/// A child and its state.
#[derive(Debug)]
pub(crate) struct Child<M> {
    pub(crate) spec: Spec<M>,
    pub(crate) state: State,
    /// The start of its present life.
    pub(crate) since: Option<Instant>,
    /// The number of its failures in a row.
    pub(crate) failures: u32,
}

/// ```text
///             start           started               ended by itself
///   Ended ───────────▶ Starting ─────▶ Running ─────────────────────▶ Fallen
///    ▲  ▲                 │  │            │                              │
///    │  └─────────────────┘  └─────┬──────┘                              │ decided
///    │        failed        to end │                                     ▼
///    └──────────────────────── Ending                    Ended, Waiting, or deleted
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It has no process, and gets none without a request.
    Ended,
    /// It has no process, and is restarted at `until`.
    Waiting { until: Instant },
    /// It is being started, and is given up at `limit`, if there is one.
    Starting { life: Life, limit: Option<Instant> },
    /// It has been started.
    Running { life: Life },
    /// It has been asked to end, and is terminated at `limit`, if there is one; or was terminated.
    Ending { life: Life, limit: Option<Instant> },
    /// It has ended by itself, and the plan has yet to decide what follows.
    Fallen { life: Life, reason: ExitReason },
}

impl State {
    /// Returns the life of its process, if it has one.
    pub(crate) fn life(&self) -> Option<Life> {
        match *self {
            Self::Starting { life, .. } | Self::Running { life } | Self::Ending { life, .. } => {
                Some(life)
            }
            Self::Ended | Self::Waiting { .. } | Self::Fallen { .. } => None,
        }
    }

    /// Returns the time at which the supervisor does not wait for its process any longer.
    pub(crate) fn limit(&self) -> Option<Instant> {
        match *self {
            Self::Starting { limit, .. } | Self::Ending { limit, .. } => limit,
            _ => None,
        }
    }

    /// Returns whether the supervisor must wait for its process.
    pub(crate) fn is_transit(&self) -> bool {
        matches!(self, Self::Starting { .. } | Self::Ending { .. })
    }
}

impl<M> Child<M> {
    /// Returns its name, or else its id, for messages.
    pub(crate) fn called(&self, id: ChildId) -> ChildRef {
        match &self.spec.name {
            Some(name) => ChildRef::Name(Arc::clone(name)),
            None => ChildRef::Id(id),
        }
    }
}
