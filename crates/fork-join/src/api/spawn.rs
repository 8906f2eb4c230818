//! Jobs that nobody waits for, and jobs for every thread.

use filch_sync::{Arc, Mutex, lock};

use crate::api::pool::Pool;
use crate::current;
use crate::job::JobRef;
use crate::scope::Scope;
use crate::shared::Shared;
use crate::worker::Worker;

impl Shared {
    fn spawn_broadcast<F: Fn(&Worker) + Send + Sync + 'static>(&self, job: F) {
        let job = Arc::new(job);
        self.tell_all(0, || {
            let job = Arc::clone(&job);
            JobRef::detached::<F>(move |worker| job(worker))
        });
    }
}

/// The body of a scope in which each thread runs `work`, and leaves what it returns.
fn collect<'work, R: Send + 'work>(
    work: &'work (impl Fn(&Worker) -> R + Sync),
    results: &'work Mutex<Vec<(usize, R)>>,
) -> impl FnOnce(&Scope<'work>) {
    move |scope| {
        scope.spawn_broadcast(|worker, _| {
            let result = work(worker);
            lock(results).push((worker.index(), result));
        });
    }
}

fn in_order<R>(results: Mutex<Vec<(usize, R)>>) -> Vec<R> {
    let mut results = std::mem::take(&mut *lock(&results));
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

impl Pool {
    /// Runs `job` on a thread of the pool at some time. Nobody waits for it, so a panic is told to
    /// [`on_panic`](crate::Config::on_panic). It takes an allocation. Lock-free, apart from the
    /// allocator.
    ///
    /// All that the caller did before happens before the job.
    pub fn spawn<F: FnOnce(&Worker) + Send + 'static>(&self, job: F) {
        current::spawn_job(&self.shared, |_| JobRef::detached::<F>(job), false);
    }

    /// Runs `work` once on each thread that the pool has now, and returns what they return, by
    /// their [index](Worker::index). A thread runs it when it has ended what it runs, or waits in
    /// the middle of that, and has none left of the jobs that it has spawned. Blocking; a thread of
    /// the pool runs jobs meanwhile.
    ///
    /// All that the caller did before happens before all of it, and that before the return.
    ///
    /// # Panics
    /// If `work` does on one of them, when it has ended on all.
    pub fn broadcast<R: Send>(&self, work: impl Fn(&Worker) -> R + Sync) -> Vec<R> {
        let results = Mutex::new(Vec::new());
        self.scope(collect(&work, &results));
        in_order(results)
    }

    /// Runs `job` once on each thread that the pool has now, as [`broadcast`](Self::broadcast)
    /// does. Nobody waits for it, so a panic is told to
    /// [`on_panic`](crate::Config::on_panic).
    ///
    /// All that the caller did before happens before all of it.
    pub fn spawn_broadcast(&self, job: impl Fn(&Worker) + Send + Sync + 'static) {
        self.shared.spawn_broadcast(job);
    }
}

impl Worker {
    /// [`Pool::spawn`], of the pool of this thread.
    pub fn spawn<F: FnOnce(&Self) + Send + 'static>(&self, job: F) {
        self.spawn_job(JobRef::detached::<F>(job), false);
    }

    /// [`Pool::broadcast`], of the pool of this thread.
    ///
    /// # Panics
    /// As there.
    pub fn broadcast<R: Send>(&self, work: impl Fn(&Self) -> R + Sync) -> Vec<R> {
        let results = Mutex::new(Vec::new());
        self.scope(collect(&work, &results));
        in_order(results)
    }

    /// [`Pool::spawn_broadcast`], of the pool of this thread.
    pub fn spawn_broadcast(&self, job: impl Fn(&Self) + Send + Sync + 'static) {
        self.shared.spawn_broadcast(job);
    }
}
