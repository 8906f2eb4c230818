//! A child, as the plan knows it.

use std::sync::Arc;
use std::time::Instant;

use filch_scheduler::ExitReason;

use crate::plan::child_id::{ChildId, ChildRef, Life};
use crate::settings::restart::Restart;
use crate::settings::shutdown::Shutdown;

/// A child's settings. `M` makes its processes; the plan knows nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec<M> {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) restart: Restart,
    pub(crate) shutdown: Shutdown,
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
    /// It is being started.
    Starting { life: Life },
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
            Self::Starting { life } | Self::Running { life } | Self::Ending { life, .. } => {
                Some(life)
            }
            Self::Ended | Self::Waiting { .. } | Self::Fallen { .. } => None,
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
