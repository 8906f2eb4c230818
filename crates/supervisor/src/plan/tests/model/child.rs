//! A child of the model: its present life, and its past ones.

use filch_scheduler::ExitReason;

use crate::plan::child::{ChildId, ChildRef, Spec};
use crate::plan::tests::script::{Fact, LifeScript, Time};
use crate::settings::{Backoff, Shutdown};

pub(super) struct Child {
    pub(super) id: ChildId,
    pub(super) spec: Spec<()>,
    /// The script of its last or present life.
    last: Option<LifeScript>,
    process: Option<Process>,
    past: Vec<PastLife>,
    /// The time of its restart.
    pub(super) due: Option<Time>,
}

/// A process, and the time of its end if nobody ends it before.
struct Process {
    life: LifeScript,
    began_at: Time,
    ends_at: Time,
    asked_at: Option<Time>,
    is_terminated: bool,
}

struct PastLife {
    /// Its length, if it had begun.
    lasted: Option<Time>,
    /// Set if its end counts as a failure.
    has_failed: bool,
}

pub(super) const NEVER: Time = Time::MAX;

impl Child {
    pub(super) fn new(id: ChildId, spec: Spec<()>) -> Self {
        Self {
            id,
            spec,
            last: None,
            process: None,
            past: Vec::new(),
            due: None,
        }
    }

    /// Returns its name, or else its id, for messages.
    pub(super) fn called(&self) -> ChildRef {
        match &self.spec.name {
            Some(name) => ChildRef::Name(name.clone()),
            None => ChildRef::Id(self.id),
        }
    }

    /// Returns the number of its past lives.
    pub(super) fn lives(&self) -> usize {
        self.past.len()
    }

    pub(super) fn lives_now(&self) -> bool {
        self.process.is_some()
    }

    /// Returns the time at which its process ends, unless it lives for ever.
    pub(super) fn ends_at(&self) -> Option<Time> {
        let process = self.process.as_ref()?;
        Some(process.ends_at).filter(|ends_at| *ends_at < NEVER)
    }

    /// Returns the reason of the end of its last life, past or to come.
    pub(super) fn reason(&self) -> ExitReason {
        self.last.expect("it has lived").reason()
    }

    /// Begins a life at `now`. Returns the time at which it has started, or failed to.
    pub(super) fn begin(&mut self, life: LifeScript, now: Time) -> Time {
        let began_at = now + life.start_takes;
        let ends_at = match life.lasts {
            _ if !life.starts => began_at,
            Some(lasts) => began_at + lasts,
            None => NEVER,
        };
        self.due = None;
        self.last = Some(life);
        self.process = Some(Process {
            life,
            began_at,
            ends_at,
            asked_at: None,
            is_terminated: false,
        });
        began_at
    }

    /// Asks it to end, if it lives and has not been asked.
    pub(super) fn ask(&mut self, now: Time) -> Option<Fact> {
        self.due = None;
        let process = self.process.as_mut()?;
        if process.ends_at <= now {
            self.bury();
            return None;
        }
        if process.asked_at.is_some() {
            return None;
        }
        process.asked_at = Some(now);
        let (ends_after, fact) = if self.spec.shutdown == Shutdown::AtOnce {
            process.is_terminated = true;
            (process.life.dies_after, Fact::Terminate(self.id))
        } else {
            (process.life.heeds_after, Fact::AskToEnd(self.id))
        };
        process.ends_at = process.ends_at.min(now + ends_after);
        Some(fact)
    }

    /// Returns the time at which it ends, once asked, or its supervisor loses patience.
    pub(super) fn next(&self) -> Option<Time> {
        let process = self.process.as_ref()?;
        let limit = match (self.spec.shutdown, process.asked_at) {
            (Shutdown::After(patience), Some(asked_at)) if !process.is_terminated => {
                asked_at + patience.as_nanos() as Time
            }
            _ => NEVER,
        };
        Some(limit.min(process.ends_at))
    }

    /// Does what is due at that time.
    pub(super) fn pass(&mut self, now: Time) -> Option<Fact> {
        let process = self.process.as_mut()?;
        if process.ends_at <= now {
            self.bury();
            return None;
        }
        process.is_terminated = true;
        process.ends_at = process.ends_at.min(now + process.life.dies_after);
        Some(Fact::Terminate(self.id))
    }

    /// Records the end of its process.
    pub(super) fn bury(&mut self) {
        let process = self.process.take().expect("it has ended");
        let has_begun = process.life.starts && process.began_at < process.ends_at;
        self.past.push(PastLife {
            lasted: has_begun.then(|| process.ends_at - process.began_at),
            has_failed: false,
        });
    }

    /// Counts its last end as a failure. Returns the pause: the failures in a row go back to the
    /// last life as long as the cap.
    pub(super) fn fail(&mut self, backoff: Backoff) -> Time {
        let last = self.past.last_mut();
        last.expect("it has ended").has_failed = true;
        let [first, cap] = [1, u32::MAX].map(|failures| backoff.pause(failures).as_nanos() as Time);
        let mut row = 0;
        for life in self.past.iter().rev() {
            row += u32::from(life.has_failed);
            if life.lasted.is_some_and(|lasted| lasted >= cap) {
                break;
            }
        }
        first.saturating_mul(1 << (row - 1)).min(cap)
    }
}
