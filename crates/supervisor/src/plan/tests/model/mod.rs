//! The duties of a supervisor, written as OTP's is: a program that waits for each thing that it
//! does, and reads its mail when it has nothing else to do. There is no state machine: the rules
//! look up the past.

mod child;

use std::collections::VecDeque;

use filch_scheduler::ExitReason;

use self::child::{Child, NEVER};
use super::script::{Fact, Script, Time};
use crate::plan::child::{ChildId, ChildRef, Spec};
use crate::plan::event::{ChildError, Failure, Request};
use crate::settings::{Restart, Strategy};

/// The error ends the supervisor, in the middle of whatever it does.
type Step<T = ()> = Result<T, Result<(), Failure>>;

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

/// Returns the facts of a supervisor in the world of that script, until it has ended.
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
                let (child, reason) = self.blame(id);
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

    fn first_end(&self) -> Option<(Time, ChildId)> {
        let ends = self
            .children
            .iter()
            .filter_map(|child| Some((child.ends_at()?, child.id)));
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

    fn blame(&mut self, id: ChildId) -> (ChildRef, ExitReason) {
        let child = self.child(id);
        (child.called(), child.reason())
    }

    fn note(&mut self, fact: Fact) {
        self.facts.push((self.now, fact));
    }

    // Waiting.

    /// Sleeps until `time`. Only the end of the supervisor interrupts it.
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
        self.children.push(Child::new(id, spec));
        id
    }

    fn start(&mut self, id: ChildId) -> Step<Result<(), ExitReason>> {
        self.note(Fact::Start(id));
        let (now, script) = (self.now, self.script);
        let child = self.child(id);
        let life = script.life(id, child.lives());
        let began_at = child.begin(life, now);
        if began_at > now {
            self.in_transit = Some(id);
            self.sleep_until(began_at)?;
            self.in_transit = None;
        }
        if life.starts {
            return Ok(Ok(()));
        }
        let child = self.child(id);
        child.bury();
        Ok(Err(child.reason()))
    }

    /// Ends the child and waits for that; if it was interrupted, it goes on with that end.
    fn end(&mut self, id: ChildId) -> Step {
        self.in_transit = Some(id);
        self.ask(id);
        while let Some(time) = self.child(id).next() {
            self.sleep_until(time)?;
            self.pass(id);
        }
        self.in_transit = None;
        self.lay_down(id);
        Ok(())
    }

    fn ask(&mut self, id: ChildId) {
        let now = self.now;
        if let Some(fact) = self.child(id).ask(now) {
            self.note(fact);
        }
    }

    fn pass(&mut self, id: ChildId) {
        let now = self.now;
        if let Some(fact) = self.child(id).pass(now) {
            self.note(fact);
        }
    }

    /// Deletes a child without a process, or leaves it so.
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
                let nexts = self.children.iter();
                let nexts = nexts.filter_map(|child| Some((child.next()?, child.id)));
                let Some((time, id)) = nexts.min() else {
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
        let child = self.child(id);
        child.bury();
        let is_normal = child.reason() == ExitReason::Done;
        let restart = child.spec.restart;
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
        let pause = self.child(id).fail(rules.backoff);
        let period = rules.intensity.period.as_nanos() as Time;
        let recent = self
            .failures
            .iter()
            .filter(|&&then| self.now - then <= period);
        if recent.count() > rules.intensity.restarts {
            let (child, reason) = self.blame(id);
            return Err(Err(Failure::TooManyFailures { child, reason }));
        }
        match pause {
            0 => self.begin_anew(id, true),
            pause => {
                self.begin_anew(id, false)?;
                self.child(id).due = Some(self.now + pause);
                Ok(())
            }
        }
    }

    /// Ends the group of a child without a process, last first; then starts it.
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
            Err(reason) => Err(ChildError::NotStarted(reason)),
        })
    }

    fn at_rest(&mut self, which: &ChildRef) -> Result<ChildId, ChildError> {
        let id = self.find(which).ok_or(ChildError::Unknown)?;
        let child = self.child(id);
        if child.lives_now() {
            Err(ChildError::Running)
        } else if child.due.is_some() {
            Err(ChildError::Restarting)
        } else {
            Ok(id)
        }
    }
}
