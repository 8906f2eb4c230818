//! The build scheduler, its planner alone, and the forms that one writes first: queues and a set of
//! what has been picked, under a mutex, or behind a channel.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use filch_build_scheduler::{Config, Grant, Job, Pending, Planner, Scheduler, WorkerId};
use filch_timers::Timers;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

/// A build farm, as the scenarios need it. Workers are numbers, and so are jobs and artifacts; each
/// worker has the artifact of its own number.
pub(super) trait Farm: 'static {
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

/// The planner on one thread, without anybody to tell.
pub(super) struct Planned {
    planner: RefCell<Planner<u64, u64, ()>>,
    workers: Vec<WorkerId>,
    start: Instant,
}

impl Farm for Planned {
    type Pending = ();

    fn new(workers: u64) -> Self {
        let mut planner = Planner::new(Config::default());
        let workers = (0..workers).map(|number| {
            let worker = planner.register_worker();
            let added = planner.add_artifact(worker, number, &mut |_| {});
            added.expect("it is there");
            worker
        });
        Self {
            workers: workers.collect(),
            planner: RefCell::new(planner),
            start: Instant::now(),
        }
    }

    fn schedule(&self, id: u64, dependency: u64) {
        let mut planner = self.planner.borrow_mut();
        let now = self.start.elapsed();
        let new = planner.schedule(now, id, &[dependency], id, &mut |_| {});
        assert!(new.is_ok());
    }

    fn pick(&self, worker: u64) -> u64 {
        let mut picked = None;
        let sink = &mut |grant: Grant<'_, u64, u64, ()>| picked = Some(*grant.id);
        let worker = self.workers[worker as usize];
        let waits = self.planner.borrow_mut().pick(worker, (), sink);
        assert_eq!(waits, Ok(None));
        picked.expect("a job")
    }

    fn complete(&self, worker: u64, id: u64) {
        let worker = self.workers[worker as usize];
        let mut planner = self.planner.borrow_mut();
        let completed = planner.complete(worker, id, &mut |_| {});
        assert_eq!(completed, Ok(Some(id)));
    }

    fn wait(&self, (): ()) -> u64 {
        0
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

/// A thread that owns the state, and a channel of calls to it, each with a channel for its answer.
pub(super) struct Actor(mpsc::UnboundedSender<Call>);

enum Call {
    Schedule(u64, u64, oneshot::Sender<u64>),
    Pick(u64, oneshot::Sender<Option<u64>>),
    Complete(u64, u64, oneshot::Sender<bool>),
}

fn serve(mut state: State, mut calls: mpsc::UnboundedReceiver<Call>) {
    while let Some(call) = calls.blocking_recv() {
        // A caller that has gone wants no answer.
        match call {
            Call::Schedule(id, dependency, reply) => {
                state.schedule(Instant::now(), id, dependency, reply);
            }
            Call::Pick(worker, reply) => {
                let _ = reply.send(state.first_for(worker as usize));
            }
            Call::Complete(worker, id, reply) => {
                let pending = state.complete(worker, id);
                let told = pending.is_some_and(|pending| pending.send(id).is_ok());
                let _ = reply.send(told);
            }
        }
    }
}

impl Actor {
    fn ask<T>(&self, call: impl FnOnce(oneshot::Sender<T>) -> Call) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let sent = self.0.send(call(reply));
        assert!(sent.is_ok(), "the thread is there");
        answer
    }
}

impl Farm for Actor {
    type Pending = oneshot::Receiver<u64>;

    fn new(workers: u64) -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        thread::spawn(move || serve(State::new(workers), calls));
        Self(sender)
    }

    fn schedule(&self, id: u64, dependency: u64) -> oneshot::Receiver<u64> {
        self.ask(|reply| Call::Schedule(id, dependency, reply))
    }

    fn pick(&self, worker: u64) -> u64 {
        let answer = self.ask(|reply| Call::Pick(worker, reply));
        answer.blocking_recv().expect("it lives").expect("a job")
    }

    fn complete(&self, worker: u64, id: u64) {
        let answer = self.ask(|reply| Call::Complete(worker, id, reply));
        assert_eq!(answer.blocking_recv(), Ok(true));
    }

    fn wait(&self, mut pending: oneshot::Receiver<u64>) -> u64 {
        pending.try_recv().expect("it was completed")
    }
}
