//! What a supervisor has to do, written as OTP's is: as a program that waits for each thing that
//! it does, and reads its mail when it has nothing else to do. There is no state machine: what the
//! rules need to know is looked up in what has been.

use std::collections::VecDeque;

use filch_scheduler::ExitReason;

use super::script::{Fact, Script, Time};
use crate::plan::child::Spec;
use crate::plan::child_id::{ChildId, ChildRef};
use crate::plan::failure::Failure;
use crate::plan::request::{ChildError, Request};
use crate::settings::restart::Restart;
use crate::settings::shutdown::Shutdown;
use crate::settings::strategy::Strategy;

/// What ends the supervisor, in the middle of whatever it does.
type Step<T = ()> = Result<T, Result<(), Failure>>;

struct Child {
    id: ChildId,
    spec: Spec<()>,
    lives: usize,
    process: Option<Process>,
    past: Vec<PastLife>,
    due: Option<Time>,
}

struct PastLife {
    /// How long it was, if it had begun.
    lasted: Option<Time>,
    /// Whether its end counts as a failure.
    has_failed: bool,
}

/// A process, and when it ends if nobody ends it before.
struct Process {
    nth: usize,
    starts: bool,
    began_at: Time,
    ends_at: Time,
    asked_at: Option<Time>,
    is_terminated: bool,
}

struct Supervisor<'a> {
    script: &'a Script,
    now: Time,
    children: Vec<Child>,
    added: u64,
    mail: VecDeque<usize>,
    serving: Option<usize>,
    /// The child that is being started or ended.
    in_transit: Option<ChildId>,
    failures: Vec<Time>,
    is_stopping: bool,
    facts: Vec<(Time, Fact)>,
}

const NEVER: Time = Time::MAX;

/// What the supervisor does in the world of that script, until it has ended.
pub(super) fn foretell(script: &Script) -> Vec<(Time, Fact)> {
    let mut supervisor = Supervisor {
        script,
        now: 0,
        children: Vec::new(),
        added: 0,
        mail: (0..script.requests.len()).collect(),
        serving: None,
        in_transit: None,
        failures: Vec::new(),
        is_stopping: false,
        facts: Vec::new(),
    };
    let Err(outcome) = supervisor.run();
    supervisor.end_all();
    supervisor.note(Fact::End(outcome));
    supervisor.facts
}

enum Never {}

impl Supervisor<'_> {
    fn run(&mut self) -> Result<Never, Result<(), Failure>> {
        for spec in &self.script.children {
            self.add(spec.clone());
        }
        for id in self.all() {
            if self.start(id)?.is_err() {
                let reason = self.last_reason(id);
                let child = self.called(id);
                return Err(Err(Failure::NotStarted { child, reason }));
            }
        }
        self.note(Fact::Begun);
        loop {
            let now = self.now;
            if let Some((_, id)) = self.first_end().filter(|(time, _)| *time <= now) {
                self.has_ended(id)?;
            } else if let Some((_, id)) = self.first_due().filter(|(time, _)| *time <= now) {
                self.begin_anew(id, true)?;
            } else if let Some(number) = self.next_mail(now) {
                self.serve(number)?;
            } else {
                let mail = self
                    .mail
                    .front()
                    .map(|&number| self.script.requests[number].0);
                let ends = self.first_end().map(|(time, _)| time);
                let dues = self.first_due().map(|(time, _)| time);
                let next = [mail, ends, dues].into_iter().flatten().min();
                self.sleep_until(next.unwrap_or(NEVER))?;
            }
        }
    }

    // Looking.

    fn all(&self) -> Vec<ChildId> {
        self.children.iter().map(|child| child.id).collect()
    }

    fn exists(&self, id: ChildId) -> bool {
        self.children.iter().any(|child| child.id == id)
    }

    fn child(&mut self, id: ChildId) -> &mut Child {
        let mut children = self.children.iter_mut();
        children.find(|child| child.id == id).expect("it exists")
    }

    fn find(&self, which: &ChildRef) -> Option<ChildId> {
        let mut children = self.children.iter();
        let found = children.find(|child| match which {
            ChildRef::Name(name) => child.spec.name.as_ref() == Some(name),
            ChildRef::Id(id) => child.id == *id,
        });
        found.map(|child| child.id)
    }

    fn called(&mut self, id: ChildId) -> ChildRef {
        match &self.child(id).spec.name {
            Some(name) => ChildRef::Name(name.clone()),
            None => ChildRef::Id(id),
        }
    }

    fn first_end(&self) -> Option<(Time, ChildId)> {
        let ends = self.children.iter().filter_map(|child| {
            let ends_at = child.process.as_ref()?.ends_at;
            (ends_at < NEVER).then_some((ends_at, child.id))
        });
        ends.min()
    }

    fn first_due(&self) -> Option<(Time, ChildId)> {
        let dues = self
            .children
            .iter()
            .filter_map(|child| Some((child.due?, child.id)));
        dues.min()
    }

    fn next_mail(&mut self, by: Time) -> Option<usize> {
        let has_come = |&number: &usize| self.script.requests[number].0 <= by;
        self.mail.front().copied().filter(has_come)?;
        self.mail.pop_front()
    }

    fn last_reason(&mut self, id: ChildId) -> ExitReason {
        let nth = self.child(id).lives - 1;
        self.script.life(id, nth).reason()
    }

    fn note(&mut self, fact: Fact) {
        self.facts.push((self.now, fact));
    }

    // Waiting.

    /// Nothing interrupts that but the end.
    fn sleep_until(&mut self, time: Time) -> Step {
        if self.is_stopping {
            while let Some(number) = self.next_mail(time) {
                let arrived = self.script.requests[number].0.max(self.now);
                let refusal = Fact::Answer(number, Err(ChildError::Stopping));
                self.facts.push((arrived, refusal));
            }
        } else if self.script.stop_at <= time {
            self.now = self.script.stop_at;
            return Err(Ok(()));
        }
        self.now = self.now.max(time);
        Ok(())
    }

    // Starting and ending.

    fn add(&mut self, spec: Spec<()>) -> ChildId {
        let id = ChildId(self.added);
        self.added += 1;
        self.children.push(Child {
            id,
            spec,
            lives: 0,
            process: None,
            past: Vec::new(),
            due: None,
        });
        id
    }

    fn start(&mut self, id: ChildId) -> Step<Result<(), ()>> {
        self.note(Fact::Start(id));
        let now = self.now;
        let child = self.child(id);
        let nth = child.lives;
        child.lives += 1;
        child.due = None;
        let life = self.script.life(id, nth);
        let began_at = now + life.start_takes;
        let ends_at = match life.lasts {
            _ if !life.starts => began_at,
            Some(lasts) => began_at + lasts,
            None => NEVER,
        };
        self.child(id).process = Some(Process {
            nth,
            starts: life.starts,
            began_at,
            ends_at,
            asked_at: None,
            is_terminated: false,
        });
        if began_at > now {
            self.in_transit = Some(id);
            self.sleep_until(began_at)?;
            self.in_transit = None;
        }
        if life.starts {
            return Ok(Ok(()));
        }
        self.bury(id);
        Ok(Err(()))
    }

    /// Ends the child and waits for that; goes on with it if it was interrupted.
    fn end(&mut self, id: ChildId) -> Step {
        self.in_transit = Some(id);
        self.ask(id);
        while let Some(time) = self.next_of(id) {
            self.sleep_until(time)?;
            self.pass(id);
        }
        self.in_transit = None;
        self.lay_down(id);
        Ok(())
    }

    /// Asks the child to end, if it lives and has not been asked.
    fn ask(&mut self, id: ChildId) {
        let (now, script) = (self.now, self.script);
        let child = self.child(id);
        child.due = None;
        let Some(process) = &mut child.process else {
            return;
        };
        if process.ends_at <= now {
            self.bury(id);
            return;
        }
        if process.asked_at.is_some() {
            return;
        }
        process.asked_at = Some(now);
        let life = script.life(id, process.nth);
        if child.spec.shutdown == Shutdown::AtOnce {
            process.is_terminated = true;
            process.ends_at = process.ends_at.min(now + life.dies_after);
            self.note(Fact::Terminate(id));
        } else {
            process.ends_at = process.ends_at.min(now + life.heeds_after);
            self.note(Fact::AskToEnd(id));
        }
    }

    /// When the child that has been asked ends, or loses its supervisor's patience.
    fn next_of(&mut self, id: ChildId) -> Option<Time> {
        let child = self.child(id);
        let process = child.process.as_ref()?;
        let limit = match (child.spec.shutdown, process.asked_at) {
            (Shutdown::After(patience), Some(asked_at)) if !process.is_terminated => {
                asked_at + patience.as_nanos() as Time
            }
            _ => NEVER,
        };
        Some(limit.min(process.ends_at))
    }

    /// That time has come.
    fn pass(&mut self, id: ChildId) {
        let now = self.now;
        let script = self.script;
        let child = self.child(id);
        let process = child.process.as_mut().expect("it was waited for");
        if process.ends_at <= now {
            self.bury(id);
        } else {
            process.is_terminated = true;
            let dies_after = script.life(id, process.nth).dies_after;
            process.ends_at = process.ends_at.min(now + dies_after);
            self.note(Fact::Terminate(id));
        }
    }

    /// The child's process has ended.
    fn bury(&mut self, id: ChildId) {
        let child = self.child(id);
        let process = child.process.take().expect("it has ended");
        let has_begun = process.starts && process.began_at < process.ends_at;
        child.past.push(PastLife {
            lasted: has_begun.then(|| process.ends_at - process.began_at),
            has_failed: false,
        });
    }

    /// A child without a process: some are deleted then.
    fn lay_down(&mut self, id: ChildId) {
        let is_dynamic = self.script.rules.strategy == Strategy::Dynamic;
        let child = self.child(id);
        child.due = None;
        if is_dynamic || child.spec.restart == Restart::Temporary {
            self.children.retain(|child| child.id != id);
        }
    }

    fn end_all(&mut self) {
        self.is_stopping = true;
        if let Some(number) = self.serving.take() {
            self.note(Fact::Answer(number, Err(ChildError::Stopping)));
        }
        let sleeps = self.sleep_until(self.now);
        assert!(sleeps.is_ok(), "nothing interrupts the end");
        if let Some(id) = self.in_transit {
            assert!(self.end(id).is_ok(), "nothing interrupts the end");
        }
        let mut last_first = self.all();
        last_first.reverse();
        if self.script.rules.strategy == Strategy::Dynamic {
            for &id in &last_first {
                self.ask(id);
            }
            // Whatever comes first, among all of them.
            loop {
                let nexts = last_first
                    .iter()
                    .filter_map(|&id| Some((self.next_of(id)?, id)));
                let Some((time, id)) = nexts.collect::<Vec<_>>().into_iter().min() else {
                    break;
                };
                assert!(self.sleep_until(time).is_ok(), "nothing interrupts the end");
                self.pass(id);
            }
        } else {
            for id in last_first {
                assert!(self.end(id).is_ok(), "nothing interrupts the end");
            }
        }
    }

    // The rules.

    fn has_ended(&mut self, id: ChildId) -> Step {
        self.bury(id);
        let restart = self.child(id).spec.restart;
        let is_normal = self.last_reason(id) == ExitReason::Done;
        if restart == Restart::Permanent || restart == Restart::Transient && !is_normal {
            self.has_failed(id)
        } else {
            self.lay_down(id);
            Ok(())
        }
    }

    fn has_failed(&mut self, id: ChildId) -> Step {
        let rules = self.script.rules;
        self.failures.push(self.now);
        let last = self.child(id).past.last_mut();
        last.expect("it has failed").has_failed = true;
        let period = rules.intensity.period.as_nanos() as Time;
        let recent = self
            .failures
            .iter()
            .filter(|&&then| self.now - then <= period);
        if recent.count() > rules.intensity.restarts {
            let reason = self.last_reason(id);
            let child = self.called(id);
            return Err(Err(Failure::TooManyFailures { child, reason }));
        }
        match self.pause(id) {
            0 => self.begin_anew(id, true),
            pause => {
                self.begin_anew(id, false)?;
                self.child(id).due = Some(self.now + pause);
                Ok(())
            }
        }
    }

    /// The row of failures goes back to the last life as long as the cap.
    fn pause(&mut self, id: ChildId) -> Time {
        let backoff = self.script.rules.backoff;
        let [first, cap] = [1, u32::MAX].map(|failures| backoff.pause(failures).as_nanos() as Time);
        let mut row = 0;
        for life in self.child(id).past.iter().rev() {
            row += u32::from(life.has_failed);
            if life.lasted.is_some_and(|lasted| lasted >= cap) {
                break;
            }
        }
        first.saturating_mul(1 << (row - 1)).min(cap)
    }

    /// The group of a child that has no process: ended, the last one first; then started.
    fn begin_anew(&mut self, id: ChildId, starts: bool) -> Step {
        let group: Vec<ChildId> = match self.script.rules.strategy {
            Strategy::OneForOne | Strategy::Dynamic => vec![id],
            Strategy::OneForAll => self.all(),
            Strategy::RestForOne => self
                .all()
                .into_iter()
                .skip_while(|&one| one != id)
                .collect(),
        };
        for &other in group.iter().rev() {
            if other != id {
                self.end(other)?;
            }
        }
        for one in group.into_iter().filter(|_| starts) {
            if self.exists(one) && self.start(one)?.is_err() {
                return self.has_failed(one);
            }
        }
        Ok(())
    }

    fn serve(&mut self, number: usize) -> Step {
        self.serving = Some(number);
        let answer = match self.script.requests[number].1.clone() {
            Request::Start(spec) => {
                let name = spec.name.clone().map(ChildRef::Name);
                if name.is_some_and(|name| self.find(&name).is_some()) {
                    Err(ChildError::NameTaken)
                } else {
                    let id = self.add(spec);
                    let started = self.start_asked(id)?;
                    if started.is_err() {
                        self.children.retain(|child| child.id != id);
                    }
                    started
                }
            }
            Request::End(which) => match self.find(&which) {
                None => Err(ChildError::Unknown),
                Some(id) => {
                    self.end(id)?;
                    Ok(id)
                }
            },
            Request::Restart(which) => match self.at_rest(&which) {
                Ok(id) => self.start_asked(id)?,
                Err(error) => Err(error),
            },
            Request::Delete(which) => {
                let deleted = self.at_rest(&which);
                self.children.retain(|child| Ok(child.id) != deleted);
                deleted
            }
        };
        self.serving = None;
        self.note(Fact::Answer(number, answer));
        Ok(())
    }

    fn start_asked(&mut self, id: ChildId) -> Step<Result<ChildId, ChildError>> {
        Ok(match self.start(id)? {
            Ok(()) => Ok(id),
            Err(()) => Err(ChildError::NotStarted(self.last_reason(id))),
        })
    }

    fn at_rest(&mut self, which: &ChildRef) -> Result<ChildId, ChildError> {
        let id = self.find(which).ok_or(ChildError::Unknown)?;
        let child = self.child(id);
        if child.process.is_some() {
            Err(ChildError::Running)
        } else if child.due.is_some() {
            Err(ChildError::Restarting)
        } else {
            Ok(id)
        }
    }
}
