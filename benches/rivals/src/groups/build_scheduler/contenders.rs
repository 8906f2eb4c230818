//! The build scheduler, and the form that one writes first: queues and a set of
//! what has been picked, under a mutex.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use filch_build_scheduler::{Config, Job, Pending, Scheduler, WorkerId};
use filch_timers::Timers;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A build farm, as the scenarios need it. Workers are numbers, and so are jobs and artifacts; each
/// worker has the artifact of its own number.
pub(super) trait Farm: 'static {
    const NAME: &'static str;

    type Pending;

    fn new(workers: u64) -> Self;
    /// A job that depends on one artifact.
    fn schedule(&self, id: u64, dependency: u64) -> Self::Pending;
    /// Picks a job for that worker, for which there is one.
    fn pick(&self, worker: u64) -> u64;
    fn complete(&self, worker: u64, id: u64);
    /// Waits until the job has been completed.
    fn wait(&self, pending: Self::Pending) -> u64;
}

pub(super) struct Filch {
    scheduler: Scheduler<u64, u64, u64>,
    workers: Vec<WorkerId>,
}

impl Farm for Filch {
    const NAME: &'static str = "filch-build-scheduler";

    type Pending = Pending<u64>;

    fn new(workers: u64) -> Self {
        let timers = Timers::new().expect("a thread");
        let scheduler = Scheduler::new(Config::default(), &timers);
        let workers = (0..workers).map(|number| {
            let worker = scheduler.register_worker().wait().expect("not stopped");
            let added = scheduler.add_artifact(worker, number).wait();
            added.expect("it is there");
            worker
        });
        let workers = workers.collect();
        Self { scheduler, workers }
    }

    fn schedule(&self, id: u64, dependency: u64) -> Pending<u64> {
        let job = Job::with_dependencies(id, [dependency], id);
        self.scheduler.schedule_job(job)
    }

    fn pick(&self, worker: u64) -> u64 {
        let picking = self.scheduler.pick_job(self.workers[worker as usize]);
        picking.wait().expect("a job").id
    }

    fn complete(&self, worker: u64, id: u64) {
        let worker = self.workers[worker as usize];
        let completed = self.scheduler.on_job_complete(worker, id, id);
        assert_eq!(completed.wait(), Ok(true));
    }

    fn wait(&self, pending: Pending<u64>) -> u64 {
        *pending.wait().expect("a result")
    }
}

/// A mutex over the state.
pub(super) struct Locked(Mutex<State>);

/// Jobs that were picked are passed over where they are met again. The hashers are the standard
/// ones, as ours is.
struct State {
    jobs: HashMap<u64, Waiting>,
    picked: HashSet<u64>,
    /// The workers that have an artifact.
    holders: HashMap<u64, Vec<u64>>,
    deadlines: VecDeque<(Instant, u64)>,
    global: VecDeque<u64>,
    own: Vec<VecDeque<u64>>,
    near: Vec<VecDeque<u64>>,
}

struct Waiting {
    _dependency: u64,
    reply: oneshot::Sender<u64>,
}

impl State {
    fn new(workers: u64) -> Self {
        let queues = || (0..workers).map(|_| VecDeque::new()).collect();
        Self {
            jobs: HashMap::new(),
            picked: HashSet::new(),
            holders: (0..workers).map(|worker| (worker, vec![worker])).collect(),
            deadlines: VecDeque::new(),
            global: VecDeque::new(),
            own: queues(),
            near: queues(),
        }
    }

    fn schedule(&mut self, now: Instant, id: u64, dependency: u64, reply: oneshot::Sender<u64>) {
        self.end_waits(now);
        let waiting = Waiting {
            _dependency: dependency,
            reply,
        };
        self.jobs.insert(id, waiting);
        for &worker in self.holders.get(&id).into_iter().flatten() {
            self.own[worker as usize].push_back(id);
        }
        for &worker in self.holders.get(&dependency).into_iter().flatten() {
            self.near[worker as usize].push_back(id);
        }
        let deadline = now + Duration::from_secs(60);
        self.deadlines.push_back((deadline, id));
    }

    /// The worker has the result. Where it goes, if somebody awaits it.
    fn complete(&mut self, worker: u64, id: u64) -> Option<oneshot::Sender<u64>> {
        self.holders.entry(id).or_default().push(worker);
        Some(self.jobs.remove(&id)?.reply)
    }

    /// Jobs that have waited for a minute go into the global queue.
    fn end_waits(&mut self, now: Instant) {
        while self.deadlines.front().is_some_and(|&(at, _)| at <= now) {
            let job = self.deadlines.pop_front();
            self.global.extend(job.map(|(_, id)| id));
        }
    }

    fn first_for(&mut self, worker: usize) -> Option<u64> {
        let queues = [
            &mut self.global,
            &mut self.own[worker],
            &mut self.near[worker],
        ];
        for queue in queues {
            while let Some(id) = queue.pop_front() {
                if self.picked.insert(id) {
                    return Some(id);
                }
            }
        }
        None
    }
}

impl Farm for Locked {
    const NAME: &'static str = "mutex, queues, set";

    type Pending = oneshot::Receiver<u64>;

    fn new(workers: u64) -> Self {
        Self(Mutex::new(State::new(workers)))
    }

    fn schedule(&self, id: u64, dependency: u64) -> oneshot::Receiver<u64> {
        let (reply, pending) = oneshot::channel();
        let now = Instant::now();
        self.0.lock().schedule(now, id, dependency, reply);
        pending
    }

    fn pick(&self, worker: u64) -> u64 {
        let job = self.0.lock().first_for(worker as usize);
        job.expect("a job")
    }

    fn complete(&self, worker: u64, id: u64) {
        let reply = self.0.lock().complete(worker, id);
        let told = reply.expect("it was scheduled").send(id);
        assert!(told.is_ok());
    }

    fn wait(&self, mut pending: oneshot::Receiver<u64>) -> u64 {
        pending.try_recv().expect("it was completed")
    }
}
