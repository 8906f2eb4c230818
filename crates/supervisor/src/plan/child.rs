//! One child, as the plan knows it.

use std::sync::Arc;
use std::time::Instant;

use filch_scheduler::ExitReason;

use crate::plan::child_id::{ChildId, ChildRef, Life};
use crate::settings::restart::Restart;
use crate::settings::shutdown::Shutdown;

/// What a user says of a child. `M` is what makes its processes, of which the plan knows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec<M> {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) restart: Restart,
    pub(crate) shutdown: Shutdown,
    pub(crate) make: M,
}

/// A child and where it is in its lives.
#[derive(Debug)]
pub(crate) struct Child<M> {
    pub(crate) spec: Spec<M>,
    pub(crate) state: State,
    /// When its present life began.
    pub(crate) since: Option<Instant>,
    /// How often it has failed in a row.
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
    /// It has no process, and gets none before somebody says so.
    Ended,
    /// It has no process, and is restarted then.
    Waiting { until: Instant },
    /// It is being started.
    Starting { life: Life },
    /// It has been started.
    Running { life: Life },
    /// It has been asked to end, and is terminated then; or never, or it has been terminated.
    Ending { life: Life, limit: Option<Instant> },
    /// It has ended so, by itself, and what follows has not been decided yet.
    Fallen { life: Life, reason: ExitReason },
}

impl State {
    /// The life of its process, if it has one.
    pub(crate) fn life(&self) -> Option<Life> {
        match *self {
            Self::Starting { life } | Self::Running { life } | Self::Ending { life, .. } => {
                Some(life)
            }
            Self::Ended | Self::Waiting { .. } | Self::Fallen { .. } => None,
        }
    }

    /// Whether its process is to be waited for.
    pub(crate) fn is_transit(&self) -> bool {
        matches!(self, Self::Starting { .. } | Self::Ending { .. })
    }
}

impl<M> Child<M> {
    /// How it is called in what others read.
    pub(crate) fn called(&self, id: ChildId) -> ChildRef {
        match &self.spec.name {
            Some(name) => ChildRef::Name(Arc::clone(name)),
            None => ChildRef::Id(id),
        }
    }
}
