//! Random orders of all events, beside the model.
//!
//! For any steps:
//! 1. a job is granted to the pick that may have it and has waited for longest, or, to a pick that
//!    comes, from the head of one of its worker's queues, or of the nearest one;
//! 2. a job is granted once, unless it is given back;
//! 3. no pick waits while a queue of its worker has a job;
//! 4. queues, answers, errors, the next deadline and what is remembered are the model's;
//! 5. in the end each job can be had by any worker, once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use filch_build_scheduler::{
    Config, Counts, Grant, PickId, Planner, ReportError, UnknownWorker, WorkerId,
};
use proptest::prelude::*;

use crate::model::{Id, Model, Number};

const CACHE_TIMEOUT: u64 = 3;
const DEPS_TIMEOUT: u64 = 7;

#[derive(Clone, Debug)]
enum Step {
    Schedule(Id, BTreeSet<Id>),
    Advance(u64),
    Register,
    Remove(Number),
    AddArtifact(Number, Id),
    RemoveArtifact(Number, Id),
    Locate(Id),
    Pick(Number),
    Cancel(Number),
    Complete(Number, Id),
    Fail(Number, Id),
    GiveBack(Number, Id),
    Withdraw(Id),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0..8_u8;
    let worker = || 0..5_usize;
    let dependencies = prop::collection::btree_set(0..8_u8, 0..4);
    prop_oneof![
        6 => (id(), dependencies).prop_map(|(id, on)| Step::Schedule(id, on)),
        4 => (0..5_u64).prop_map(Step::Advance),
        2 => Just(Step::Register),
        1 => worker().prop_map(Step::Remove),
        4 => (worker(), id()).prop_map(|(worker, id)| Step::AddArtifact(worker, id)),
        2 => (worker(), id()).prop_map(|(worker, id)| Step::RemoveArtifact(worker, id)),
        1 => id().prop_map(Step::Locate),
        6 => worker().prop_map(Step::Pick),
        1 => (0..20_usize).prop_map(Step::Cancel),
        4 => (worker(), id()).prop_map(|(worker, id)| Step::Complete(worker, id)),
        1 => (worker(), id()).prop_map(|(worker, id)| Step::Fail(worker, id)),
        1 => (worker(), id()).prop_map(|(worker, id)| Step::GiveBack(worker, id)),
        1 => id().prop_map(Step::Withdraw),
    ]
}

/// A decision: the pick, its worker, the job, and its content.
type Decision = (Number, WorkerId, Id, u32);

/// The planner and its model.
struct Pair {
    planner: Planner<Id, u32, Number>,
    model: Model,
    /// All workers that were ever registered.
    workers: Vec<WorkerId>,
    /// All picks that ever waited.
    picks: BTreeMap<Number, PickId>,
    picked: Number,
    /// The contents of the jobs.
    contents: BTreeMap<Id, u32>,
    scheduled: u32,
}

impl Pair {
    fn new(seed: u64, near_first: bool) -> Self {
        let timeouts = [CACHE_TIMEOUT, DEPS_TIMEOUT].map(Duration::from_nanos);
        let mut config = Config::new(timeouts[0], timeouts[1]).seed(seed);
        config.near_first = near_first;
        Self {
            planner: Planner::new(config),
            model: Model::new(CACHE_TIMEOUT, DEPS_TIMEOUT, near_first),
            workers: Vec::new(),
            picks: BTreeMap::new(),
            picked: 0,
            contents: BTreeMap::new(),
            scheduled: 0,
        }
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.model.now)
    }

    /// Checks that the decisions of a call are those that the model owes, in order.
    fn settle(&mut self, decisions: &mut VecDeque<Decision>) {
        while self.model.owes_a_decision() {
            let decision = decisions.pop_front();
            let (pick, worker, id, content) =
                decision.expect("a pick beside a job goes on waiting");
            let number = self.workers.iter().position(|&other| other == worker);
            self.model.grant(pick, number.unwrap(), id);
            assert_eq!(content, self.contents[&id]);
        }
    }

    fn advance(&mut self, by: u64) {
        let end = self.model.now + by;
        let mut decisions = VecDeque::new();
        let now = Duration::from_nanos(end);
        self.planner
            .advance(now, &mut |grant| decisions.push_back(told(grant)));
        while let Some(moment) = self.model.next_moment(end) {
            self.model.now = moment;
            self.model.refresh();
            self.settle(&mut decisions);
        }
        self.model.now = end;
        assert_eq!(decisions, []);
    }

    fn run(&mut self, step: Step) {
        let decisions = RefCell::new(VecDeque::new());
        let sink = &mut |grant: Grant<'_, _, _, _>| decisions.borrow_mut().push_back(told(grant));
        match step {
            Step::Advance(by) => return self.advance(by),
            Step::Schedule(id, on) => {
                let dependencies: Vec<_> = on.iter().copied().collect();
                let (now, content) = (self.now(), self.scheduled);
                self.scheduled += 1;
                let is_new = self.model.schedule(id, on);
                let scheduled = self.planner.schedule(now, id, &dependencies, content, sink);
                assert_eq!(scheduled.is_ok(), is_new);
                match scheduled {
                    Ok(()) => drop(self.contents.insert(id, content)),
                    Err(already) => assert_eq!(*already.there, self.contents[&id]),
                }
            }
            Step::Register => {
                self.model.register(self.workers.len());
                self.workers.push(self.planner.register_worker());
            }
            Step::Locate(id) => {
                let holder = self.planner.locate_artifact(&id);
                let holders = self.model.holders(id);
                assert_eq!(holder.is_none(), holders.is_empty());
                assert!(holder.is_none_or(|holder| {
                    holders.iter().any(|&number| self.workers[number] == holder)
                }));
            }
            Step::Withdraw(id) => {
                let content = self.planner.withdraw(&id);
                assert_eq!(content.is_some(), self.model.finish(id));
                assert!(content.is_none_or(|content| content == self.contents[&id]));
            }
            Step::Cancel(pick) => {
                let Some(&name) = self.picks.get(&pick) else {
                    return;
                };
                let waited = self.model.cancel(pick);
                assert_eq!(self.planner.cancel(name), waited.then_some(pick));
            }
            Step::Remove(number)
            | Step::Pick(number)
            | Step::AddArtifact(number, _)
            | Step::RemoveArtifact(number, _)
            | Step::Complete(number, _)
            | Step::Fail(number, _)
            | Step::GiveBack(number, _) => {
                let Some(&worker) = self.workers.get(number) else {
                    return;
                };
                self.run_for(step, number, worker, &decisions);
            }
        }
        let mut decisions = decisions.into_inner();
        self.settle(&mut decisions);
        assert_eq!(decisions, [], "nobody asked for these");
        self.check();
    }

    fn run_for(
        &mut self,
        step: Step,
        number: Number,
        worker: WorkerId,
        decisions: &RefCell<VecDeque<Decision>>,
    ) {
        let sink = &mut |grant: Grant<'_, _, _, _>| decisions.borrow_mut().push_back(told(grant));
        let is_there = self.model.knows(number);
        match step {
            Step::Remove(_) => {
                let removed = self.planner.remove_worker(worker, sink).ok();
                let expected = is_there.then(|| self.model.remove(number));
                let removed = removed.map(|removed| {
                    let picks: BTreeSet<_> = removed.picks.into_iter().collect();
                    (removed.given_back.into_iter().collect(), picks)
                });
                assert_eq!(removed, expected);
            }
            Step::Pick(_) => {
                let pick = self.picked;
                self.picked += 1;
                let picked = self.planner.pick(worker, pick, sink);
                assert_eq!(picked.is_ok(), is_there);
                if let Ok(name) = picked {
                    self.model.pick(pick, number);
                    assert_eq!(name.is_none(), self.model.owes_a_decision());
                    name.map(|name| self.picks.insert(pick, name));
                }
            }
            Step::AddArtifact(_, id) => {
                let added = self.planner.add_artifact(worker, id, sink);
                assert_eq!(added.is_ok(), is_there);
                if is_there {
                    self.model.add_artifact(number, id);
                }
            }
            Step::RemoveArtifact(_, id) => {
                let removed = self.planner.remove_artifact(worker, &id, sink);
                let expected = is_there.then(|| self.model.remove_artifact(number, id));
                assert_eq!(removed, expected.ok_or(UnknownWorker));
            }
            Step::Complete(_, id) => {
                let completed = self.planner.complete(worker, id, sink);
                assert_eq!(completed.is_ok(), is_there);
                if let Ok(content) = completed {
                    assert_eq!(content.is_some(), self.model.finish(id));
                    assert!(content.is_none_or(|content| content == self.contents[&id]));
                    self.model.add_artifact(number, id);
                }
            }
            Step::Fail(_, id) => {
                let failed = self.planner.fail(worker, &id);
                assert_eq!(failed.map(|_| ()), self.may_report(number, id));
                if failed.is_ok() {
                    self.model.finish(id);
                }
            }
            Step::GiveBack(_, id) => {
                let given_back = self.planner.give_back(worker, &id, sink);
                assert_eq!(given_back, self.may_report(number, id));
                if given_back.is_ok() {
                    self.model.give_back(id);
                }
            }
            _ => unreachable!("it names no worker"),
        }
    }

    fn may_report(&self, number: Number, id: Id) -> Result<(), ReportError> {
        match (self.model.knows(number), self.model.runs(number, id)) {
            (false, _) => Err(ReportError::UnknownWorker),
            (true, false) => Err(ReportError::NotRunning),
            (true, true) => Ok(()),
        }
    }

    fn check(&self) {
        let deadline = self.model.next_deadline().map(Duration::from_nanos);
        assert_eq!(self.planner.next_deadline(), deadline);
        let [jobs, waits, picks, workers, artifacts] = self.model.counts();
        let expected = Counts {
            jobs,
            waits,
            picks,
            workers,
            artifacts,
        };
        assert_eq!(self.planner.counts(), expected);
        for (number, &worker) in self.workers.iter().enumerate() {
            let queues = self.planner.queues(worker);
            assert_eq!(queues.is_ok(), self.model.knows(number));
            let Ok(queues) = queues else { continue };
            let there = [queues.own, queues.near, queues.global];
            for (ids, expected) in there.iter().zip(self.model.queues(number)) {
                let since = |id: &&Id| expected[*id];
                assert!(ids.iter().is_sorted_by_key(since), "{ids:?} {expected:?}");
                assert_eq!(ids.len(), expected.len(), "{ids:?} {expected:?}");
            }
        }
    }

    /// Checks that a worker that has nothing gets every job, each once.
    fn finish(&mut self) {
        self.advance(CACHE_TIMEOUT + DEPS_TIMEOUT);
        let newcomer = self.workers.len();
        self.run(Step::Register);
        let (worker, left) = (self.workers[newcomer], self.model.waits());
        let decisions = RefCell::new(VecDeque::new());
        for _ in 0..left {
            self.run_for(Step::Pick(newcomer), newcomer, worker, &decisions);
            self.settle(&mut decisions.borrow_mut());
        }
        assert_eq!(self.model.waits(), 0, "jobs that nobody can have");
    }
}

fn told(grant: Grant<'_, Id, u32, Number>) -> Decision {
    (grant.pick, grant.worker, *grant.id, *grant.content)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn decisions_are_those_of_the_model(
        seed: u64,
        near_first: bool,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut pair = Pair::new(seed, near_first);
        // At least two workers, or most steps would be refused.
        for step in [Step::Register, Step::Register].into_iter().chain(steps) {
            pair.run(step);
        }
        pair.finish();
    }
}
