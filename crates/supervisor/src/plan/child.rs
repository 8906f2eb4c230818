//! The children as the plan knows them: their names, states and order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_actors::timers::after;
use filch_scheduler::ExitReason;

use crate::plan::event::Action;
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

/// All children, in the order in which they were added and are started.
///
/// Every look-up takes O(log n), so that a supervisor may have a hundred thousand children.
#[derive(Debug)]
pub(crate) struct Children<M> {
    by_id: BTreeMap<ChildId, Child<M>>,
    by_name: BTreeMap<Arc<str>, ChildId>,
    added: u64,
    lives: u64,
    /// Set if children that have ended, and are not restarted, stay, to be started again.
    keeps_ended: bool,
    /// The number of children that are being started or ended.
    in_transit: usize,
    /// The waiting children, by the times of their restart.
    pauses: BTreeSet<(Instant, ChildId)>,
    /// The starting and the ending children, by the times at which they are given up or terminated.
    limits: BTreeSet<(Instant, ChildId)>,
}

impl<M> Children<M> {
    pub(crate) fn new(keeps_ended: bool) -> Self {
        Self {
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
            added: 0,
            lives: 0,
            keeps_ended,
            in_transit: 0,
            pauses: BTreeSet::new(),
            limits: BTreeSet::new(),
        }
    }

    /// Adds a child behind all others, without a process.
    ///
    /// # Errors
    /// The child: another one has that name.
    pub(crate) fn add(&mut self, spec: Spec<M>) -> Result<ChildId, Spec<M>> {
        let id = ChildId(self.added);
        if let Some(name) = &spec.name {
            if self.by_name.contains_key(name) {
                return Err(spec);
            }
            self.by_name.insert(Arc::clone(name), id);
        }
        self.added += 1;
        let child = Child {
            spec,
            state: State::Ended,
            since: None,
            failures: 0,
        };
        self.by_id.insert(id, child);
        Ok(id)
    }

    /// Removes the child.
    pub(crate) fn remove(&mut self, id: ChildId) -> Option<Spec<M>> {
        self.set(id, State::Ended);
        let child = self.by_id.remove(&id)?;
        if let Some(name) = &child.spec.name {
            self.by_name.remove(name);
        }
        Some(child.spec)
    }

    pub(crate) fn get(&self, id: ChildId) -> Option<&Child<M>> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ChildId) -> Option<&mut Child<M>> {
        self.by_id.get_mut(&id)
    }

    pub(crate) fn find(&self, child: &ChildRef) -> Option<ChildId> {
        match child {
            ChildRef::Name(name) => self.by_name.get(name).copied(),
            ChildRef::Id(id) => self.by_id.contains_key(id).then_some(*id),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ChildId, &Child<M>)> {
        self.by_id.iter().map(|(&id, child)| (id, child))
    }

    /// Lists the children of that stretch of the order, last first.
    pub(crate) fn last_first(&self, group: RangeInclusive<ChildId>) -> Vec<ChildId> {
        self.by_id.range(group).rev().map(|(&id, _)| id).collect()
    }

    /// Returns whether any child is being started or ended.
    pub(crate) fn are_in_transit(&self) -> bool {
        self.in_transit > 0
    }

    /// Returns the first child to be restarted, and its time.
    pub(crate) fn first_pause(&self) -> Option<(Instant, ChildId)> {
        self.pauses.first().copied()
    }

    /// Returns the first child to be given up or terminated, and its time.
    pub(crate) fn first_limit(&self) -> Option<(Instant, ChildId)> {
        self.limits.first().copied()
    }

    /// Moves the child to that state.
    pub(crate) fn set(&mut self, id: ChildId, state: State) {
        let Some(child) = self.by_id.get_mut(&id) else {
            return;
        };
        self.in_transit -= usize::from(child.state.is_transit());
        self.in_transit += usize::from(state.is_transit());
        if let State::Waiting { until } = child.state {
            self.pauses.remove(&(until, id));
        }
        if let State::Waiting { until } = state {
            self.pauses.insert((until, id));
        }
        if let Some(limit) = child.state.limit() {
            self.limits.remove(&(limit, id));
        }
        self.limits.extend(state.limit().map(|limit| (limit, id)));
        child.state = state;
    }

    /// Begins a life of the child, if it is still there.
    pub(crate) fn start(&mut self, child: ChildId, now: Instant) -> Option<Action<M>> {
        let limit = self.by_id.get(&child)?.spec.start;
        let limit = limit.map(|limit| after(now, limit));
        let life = Life(self.lives);
        self.lives += 1;
        self.set(child, State::Starting { life, limit });
        Some(Action::Start { child, life })
    }

    /// Ends the child, or lays it down if it has no process, or its start has a limit: such a
    /// process ends before its first step, and nobody waits for it.
    pub(crate) fn end(&mut self, child: ChildId, now: Instant) -> Option<Action<M>> {
        let Child { spec, state, .. } = self.by_id.get(&child)?;
        let life = match *state {
            State::Starting {
                life,
                limit: Some(_),
            } => {
                self.lay_down(child);
                return Some(Action::GiveUp { child, life });
            }
            State::Starting { life, .. } | State::Running { life } => life,
            State::Ending { .. } => return None,
            State::Ended | State::Waiting { .. } | State::Fallen { .. } => {
                self.lay_down(child);
                return None;
            }
        };
        let (limit, action) = match spec.shutdown {
            Shutdown::After(patience) => {
                let limit = after(now, patience);
                (Some(limit), Action::AskToEnd(child))
            }
            Shutdown::Unlimited => (None, Action::AskToEnd(child)),
            Shutdown::AtOnce => (None, Action::Terminate(child)),
        };
        self.set(child, State::Ending { life, limit });
        Some(action)
    }

    /// Gives up or terminates the first child whose limit has passed.
    pub(crate) fn overdue(&mut self, now: Instant) -> Option<Action<M>> {
        let (_, child) = self.first_limit().filter(|(limit, _)| *limit <= now)?;
        let state = &self.by_id.get(&child)?.state;
        let life = state.life()?;
        if matches!(state, State::Starting { .. }) {
            self.set(child, State::Starting { life, limit: None });
            return Some(Action::GiveUp { child, life });
        }
        self.set(child, State::Ending { life, limit: None });
        Some(Action::Terminate(child))
    }

    /// Leaves a child without a process, or deletes it.
    pub(crate) fn lay_down(&mut self, child: ChildId) {
        let restart = self.by_id.get(&child).map(|child| child.spec.restart);
        if restart == Some(Restart::Temporary) || !self.keeps_ended {
            self.remove(child);
        } else {
            self.set(child, State::Ended);
        }
    }
}
