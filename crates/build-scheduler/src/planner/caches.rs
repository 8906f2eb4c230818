//! The contents of workers' caches, and the jobs that enter and leave queues with them.

use std::hash::Hash;

use super::artifacts::Stage;
use super::board::Board;
use super::lists::Place;
use super::numbers::NumberSet;

impl<I: Clone + Eq + Hash, J> Board<I, J> {
    /// Notes that the worker has the artifact. Jobs to which it comes near enter its queues.
    pub(super) fn hold(&mut self, worker: u32, artifact: u32) {
        let holder = &mut self.workers[worker];
        if !holder.held.insert(artifact) {
            return;
        }
        let found = &mut self.artifacts[artifact];
        found.holders.push(worker);
        if let Some(job) = found.job
            && !matches!(self.jobs[job].stage, Stage::Running(_))
        {
            let near = &mut self.jobs[job].near;
            self.lists.push(holder.own, job, near);
            self.grown.push(job);
        }
        let dependents = found.dependents;
        let mut next = dependents.and_then(|list| self.lists.first_place(list));
        while let Some(place) = next {
            next = self.lists.next_place(place);
            let number = self.lists.item(place);
            let job = &mut self.jobs[number];
            if !has_other(&job.dependencies, artifact, &holder.held) {
                self.lists.push(holder.near, number, &mut job.near);
                self.grown.push(number);
            }
        }
    }

    /// Notes that the worker no longer has the artifact. Returns whether it had it.
    pub(super) fn drop_artifact(&mut self, worker: u32, artifact: u32) -> bool {
        if !self.workers[worker].held.remove(&artifact) {
            return false;
        }
        let found = &mut self.artifacts[artifact];
        found.holders.remove(worker);
        let (job, dependents) = (found.job, found.dependents);
        if let Some(job) = job
            && let Some(place) = self
                .lists
                .find(self.workers[worker].own, &self.jobs[job].near)
        {
            self.leave(place);
        }
        let mut next = dependents.and_then(|list| self.lists.first_place(list));
        while let Some(place) = next {
            next = self.lists.next_place(place);
            let (job, holder) = (&self.jobs[self.lists.item(place)], &self.workers[worker]);
            if !has_other(&job.dependencies, artifact, &holder.held)
                && let Some(place) = self.lists.find(holder.near, &job.near)
            {
                self.leave(place);
            }
        }
        self.forget_unused(artifact);
        true
    }

    /// Takes the job at that place out of the queue of a worker.
    fn leave(&mut self, place: Place) {
        let job = self.lists.item(place);
        self.lists.take(place, &mut self.jobs[job].near);
        if self.open_if_far(job) {
            self.grown.push(job);
        }
    }

    /// Removes a worker without picks. Forgets its artifacts, gives back the jobs that it ran, and
    /// returns these.
    pub(super) fn remove_worker(&mut self, place: u32) -> Vec<u32> {
        let worker = self.workers.remove(place);
        for artifact in worker.held {
            self.artifacts[artifact].holders.remove(place);
            self.forget_unused(artifact);
        }
        for queue in [worker.own, worker.near] {
            while let Some(place) = self.lists.first_place(queue) {
                self.leave(place);
            }
        }
        let mut given_back = Vec::new();
        while let Some(job) = self.lists.first(worker.running) {
            self.give_back(job);
            given_back.push(job);
        }
        for list in [worker.own, worker.near, worker.running, worker.picks] {
            self.lists.remove(list);
        }
        given_back
    }
}

/// Returns whether the worker that has `held` has a dependency other than `artifact`.
fn has_other(dependencies: &[u32], artifact: u32, held: &NumberSet) -> bool {
    let mut others = dependencies.iter().filter(|&&other| other != artifact);
    others.any(|other| held.contains(other))
}
