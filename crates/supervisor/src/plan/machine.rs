//! The plan: events go in, with their times; actions come out.

use std::collections::VecDeque;
use std::mem;
use std::time::Instant;

use filch_actors::timers::after;
use filch_scheduler::ExitReason;

use crate::plan::child::{Child, ChildId, ChildRef, Children, Life, Spec, State};
use crate::plan::event::{
    Action, Answer, ChildError, Event, Failure, Job, Purpose, Refused, Request, RequestId,
};
use crate::settings::{Backoff, Failures, Intensity, Strategy};

/// The rules by which a supervisor treats its children.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) strategy: Strategy,
    pub(crate) intensity: Intensity,
    pub(crate) backoff: Backoff,
}

/// The supervisor's state.
///
/// It does one [job](Job) at a time; each job ends children and then starts children, one at a
/// time. Other events wait: first the ends of children, then restarts whose pause is over, then
/// requests. Only the end of the supervisor does not wait.
#[derive(Debug)]
pub(crate) struct Plan<M> {
    rules: Rules,
    children: Children<M>,
    failures: Failures,
    job: Option<Job>,
    fallen: VecDeque<(ChildId, Life)>,
    requests: VecDeque<(RequestId, Request<M>)>,
    /// Set when the supervisor has ended.
    is_over: bool,
    actions: VecDeque<Action<M>>,
}

impl<M> Plan<M> {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            children: Children::new(rules.strategy != Strategy::Dynamic),
            failures: Failures::default(),
            job: None,
            fallen: VecDeque::new(),
            requests: VecDeque::new(),
            is_over: false,
            actions: VecDeque::new(),
        }
    }

    /// Adds a child before the supervisor begins.
    ///
    /// # Errors
    /// The child: another one has that name.
    pub(crate) fn add(&mut self, spec: Spec<M>) -> Result<ChildId, Spec<M>> {
        self.children.add(spec)
    }

    /// Handles an event of the time `now`. Ignores events of lives that are over.
    pub(crate) fn handle(&mut self, event: Event<M>, now: Instant) {
        match event {
            Event::Begin => {
                let all = self.children.last_first(ChildId::FIRST..=ChildId::LAST);
                self.job = Some(Job::starting(all, Purpose::Begin));
            }
            Event::Started { child, life } => self.started(child, life, now),
            Event::Ended {
                child,
                life,
                reason,
            } => self.ended(child, life, reason, now),
            Event::Time => {
                while let Some(action) = self.children.overdue(now) {
                    if let Action::GiveUp { child, life } = action {
                        self.ended(child, life, ExitReason::StartTimedOut, now);
                    }
                    self.actions.push_back(action);
                }
            }
            Event::Request(id, request) if self.is_ending() => self.refuse(id, request),
            Event::Request(id, request) => self.requests.push_back((id, request)),
            Event::Stop if self.is_ending() => {}
            Event::Stop => self.stop(Ok(()), now),
        }
        self.go_on(now);
    }

    /// Returns the next action, in their order.
    pub(crate) fn next_action(&mut self) -> Option<Action<M>> {
        self.actions.pop_front()
    }

    /// Returns the time at which [`Event::Time`] is due, if no other event comes.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        // During a wait for children, none is restarted; otherwise none is being ended.
        let first = if self.children.are_in_transit() {
            self.children.first_limit()
        } else {
            self.children.first_pause()
        };
        first.map(|(deadline, _)| deadline)
    }

    /// Returns the children, in the order of their start.
    pub(crate) fn children(&self) -> impl Iterator<Item = (ChildId, &Child<M>)> {
        self.children.iter()
    }

    pub(crate) fn find(&self, child: &ChildRef) -> Option<ChildId> {
        self.children.find(child)
    }

    pub(crate) fn child_mut(&mut self, id: ChildId) -> Option<&mut Child<M>> {
        self.children.get_mut(id)
    }

    fn is_ending(&self) -> bool {
        let stops = |job: &Job| matches!(job.purpose, Purpose::Stop(_));
        self.is_over || self.job.as_ref().is_some_and(stops)
    }

    /// Goes on until it must wait for a child, or has nothing to do.
    fn go_on(&mut self, now: Instant) {
        while !self.children.are_in_transit() && !self.is_over {
            let Some(job) = &mut self.job else {
                if self.take_up(now) {
                    continue;
                }
                return;
            };
            if let Some(child) = job.to_end.pop() {
                self.actions.extend(self.children.end(child, now));
                if self.rules.strategy == Strategy::Dynamic {
                    let others = mem::take(&mut job.to_end).into_iter().rev();
                    let ends = others.filter_map(|child| self.children.end(child, now));
                    self.actions.extend(ends);
                }
            } else if let Some(child) = job.to_start.pop() {
                // A temporary child of the group was deleted when it was ended.
                self.actions.extend(self.children.start(child, now));
            } else if let Some(job) = self.job.take() {
                self.finish(job.purpose, now);
            }
        }
    }

    /// Begins the next thing to do; returns whether there was one.
    fn take_up(&mut self, now: Instant) -> bool {
        if let Some((child, life)) = self.fallen.pop_front() {
            self.decide(child, life, now);
        } else if let Some((until, child)) = self.children.first_pause()
            && until <= now
        {
            self.begin_anew(child, Purpose::Restart);
        } else if let Some((id, request)) = self.requests.pop_front() {
            match self.job_for(id, request) {
                Ok(job) => self.job = Some(job),
                Err(answer) => self.answer(id, answer),
            }
        } else {
            return false;
        }
        true
    }

    fn finish(&mut self, purpose: Purpose, now: Instant) {
        match purpose {
            Purpose::Begin => self.actions.push_back(Action::Begun),
            Purpose::Restart => {}
            Purpose::Pause(child, pause) => {
                let until = after(now, pause);
                self.children.set(child, State::Waiting { until });
            }
            Purpose::Add(id, child) | Purpose::Change(id, child) => self.answer(id, Ok(child)),
            Purpose::Stop(outcome) => {
                self.is_over = true;
                self.actions.push_back(Action::End(outcome));
            }
        }
    }

    fn started(&mut self, id: ChildId, life: Life, now: Instant) {
        if let Some(child) = self.children.get_mut(id)
            && matches!(child.state, State::Starting { life: own, .. } if own == life)
        {
            child.since = Some(now);
            self.children.set(id, State::Running { life });
        }
    }

    fn ended(&mut self, id: ChildId, life: Life, reason: ExitReason, now: Instant) {
        let Some(child) = self.children.get_mut(id) else {
            return;
        };
        if child.state.life() != Some(life) {
            return;
        }
        let lasted = child
            .since
            .take()
            .map(|since| now.saturating_duration_since(since));
        if lasted.is_some_and(|lasted| self.rules.backoff.begins_anew(lasted)) {
            child.failures = 0;
        }
        match child.state {
            State::Running { .. } => {
                self.children.set(id, State::Fallen { life, reason });
                self.fallen.push_back((id, life));
            }
            State::Starting { .. } => {
                self.children.set(id, State::Ended);
                self.did_not_start(id, reason, now);
            }
            _ => self.children.lay_down(id),
        }
    }

    /// Decides what follows the end of a child by itself, unless a job has handled the child since.
    fn decide(&mut self, id: ChildId, life: Life, now: Instant) {
        let Some(child) = self.children.get(id) else {
            return;
        };
        match &child.state {
            State::Fallen { life: last, reason } if *last == life => {
                if child.spec.restart.follows(reason) {
                    self.failed(id, reason.clone(), now);
                } else {
                    self.children.lay_down(id);
                }
            }
            _ => {}
        }
    }

    /// Handles a failure: a child to be restarted has ended, or did not start again.
    fn failed(&mut self, id: ChildId, reason: ExitReason, now: Instant) {
        let Some(child) = self.children.get_mut(id) else {
            return;
        };
        if self.failures.is_one_too_many(&self.rules.intensity, now) {
            let child = child.called(id);
            self.stop(Err(Failure::TooManyFailures { child, reason }), now);
            return;
        }
        child.failures = child.failures.saturating_add(1);
        let pause = self.rules.backoff.pause(child.failures);
        let purpose = if pause.is_zero() {
            Purpose::Restart
        } else {
            Purpose::Pause(id, pause)
        };
        self.begin_anew(id, purpose);
    }

    /// Begins anew with a child that has no process, and its group, or makes them wait.
    fn begin_anew(&mut self, id: ChildId, purpose: Purpose) {
        self.children.set(id, State::Ended);
        let mut to_start = self.children.last_first(self.rules.strategy.group(id));
        // There are mostly none, which costs nothing.
        let others = to_start.iter().rev().copied();
        let to_end = others.filter(|&other| other != id).collect();
        if let Purpose::Pause(..) = purpose {
            to_start.clear();
        }
        self.job = Some(Job {
            to_end,
            to_start,
            purpose,
        });
    }

    fn did_not_start(&mut self, id: ChildId, reason: ExitReason, now: Instant) {
        let Some(job) = self.job.take() else {
            return;
        };
        match job.purpose {
            Purpose::Begin => {
                if let Some(child) = self.children.get(id).map(|child| child.called(id)) {
                    self.stop(Err(Failure::NotStarted { child, reason }), now);
                }
            }
            Purpose::Restart => self.failed(id, reason, now),
            Purpose::Add(request, _) => {
                let error = ChildError::NotStarted(reason);
                let spec = self.children.remove(id);
                self.answer(request, Err(Refused { error, spec }));
            }
            Purpose::Change(request, _) => {
                self.answer(request, Err(ChildError::NotStarted(reason).into()));
            }
            Purpose::Pause(..) | Purpose::Stop(_) => unreachable!("these start no child"),
        }
    }

    /// Makes the job for a request.
    ///
    /// # Errors
    /// The answer, if the request needs no wait.
    fn job_for(&mut self, id: RequestId, request: Request<M>) -> Result<Job, Answer<M>> {
        match request {
            Request::Start(spec) => {
                let child = self.children.add(spec).map_err(|spec| {
                    Err(Refused {
                        error: ChildError::NameTaken,
                        spec: Some(spec),
                    })
                })?;
                Ok(Job::starting(vec![child], Purpose::Add(id, child)))
            }
            Request::End(which) => {
                let child = self.children.find(&which);
                let child = child.ok_or_else(|| Err(ChildError::Unknown.into()))?;
                Ok(Job::ending(vec![child], Purpose::Change(id, child)))
            }
            Request::Restart(which) => {
                let child = self.at_rest(&which)?;
                Ok(Job::starting(vec![child], Purpose::Change(id, child)))
            }
            Request::Delete(which) => {
                let child = self.at_rest(&which)?;
                self.children.remove(child);
                Err(Ok(child))
            }
        }
    }

    /// Finds the child, which must have ended and not wait for a restart.
    fn at_rest(&self, which: &ChildRef) -> Result<ChildId, Answer<M>> {
        let refused = |error: ChildError| Err(Err(error.into()));
        let Some(id) = self.children.find(which) else {
            return refused(ChildError::Unknown);
        };
        match self.children.get(id).map(|child| &child.state) {
            Some(State::Ended) => Ok(id),
            Some(State::Waiting { .. }) => refused(ChildError::Restarting),
            _ => refused(ChildError::Running),
        }
    }

    fn refuse(&mut self, id: RequestId, request: Request<M>) {
        let spec = match request {
            Request::Start(spec) => Some(spec),
            Request::End(_) | Request::Restart(_) | Request::Delete(_) => None,
        };
        let error = ChildError::Stopping;
        self.answer(id, Err(Refused { error, spec }));
    }

    fn answer(&mut self, id: RequestId, answer: Answer<M>) {
        self.actions.push_back(Action::Answer(id, answer));
    }

    /// Gives up its job, and ends all children: first the one that is being started or ended, then
    /// the others, last first.
    fn stop(&mut self, outcome: Result<(), Failure>, now: Instant) {
        let given_up = self.job.take().map(|job| job.purpose);
        if let Some(Purpose::Add(id, _) | Purpose::Change(id, _)) = given_up {
            self.answer(id, Err(ChildError::Stopping.into()));
        }
        for (id, request) in mem::take(&mut self.requests) {
            self.refuse(id, request);
        }
        let (in_transit, mut others): (Vec<_>, Vec<_>) = self
            .children
            .last_first(ChildId::FIRST..=ChildId::LAST)
            .into_iter()
            .partition(|&id| {
                self.children
                    .get(id)
                    .is_some_and(|child| child.state.is_transit())
            });
        for child in in_transit {
            self.actions.extend(self.children.end(child, now));
        }
        others.reverse();
        self.job = Some(Job::ending(others, Purpose::Stop(outcome)));
    }
}
