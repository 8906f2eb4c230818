//! Operations of one thread with one primitive, again and again.

use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use filch_build_scheduler::{Config, Job, Scheduler, WorkerId};
use filch_data_cell::{Access, DataCell, LockSet};
use filch_deque::{Stealer, Worker};
use filch_event_queue::{Receiver, Sender, channel};
use filch_injector::Injector;
use filch_parker::{Parker, Unparker};
use filch_process_state::{ProcessState, Reason, Wake};
use filch_slab::{Occupancy, Slab, Unpinned};
use filch_sync::asymmetric;
use filch_timers::Timers;

use crate::Operation;
use crate::job::mark;

/// Times that a round does most of them.
const MANY: u64 = 1024;

/// Events of a round.
const EVENTS: u64 = 256;

/// Jobs of a round.
const JOBS: u64 = 1000;

/// Items that a thief takes: half of what its victim has.
const HALF: usize = 64;

/// Victims that are robbed in a round.
const VICTIMS: usize = 16;

/// Items that a batch of the injector has besides the first.
const MORE: usize = 31;

/// Batches of a round.
const BATCHES: u64 = 8;

fn nothing<S>(_: &mut S) {}

/// All operations, in the order of the tables: a name, how often a round does it, the primitive;
/// the step before a round, the round, and the step after it.
pub fn operations() -> Vec<Operation> {
    let of = |name, access: fn() -> LockSet| {
        Operation::new(name, MANY, access, [nothing, lock_all, nothing])
    };
    let (writing, reading) = (|| three(Access::Write), || three(Access::Read));
    let injector = || Kept::new(Injector::new());
    vec![
        Operation::new(
            "build-scheduler: schedule, pick, complete",
            JOBS,
            Farm::new,
            [nothing, Farm::build, Farm::forget],
        ),
        of("data cell: lock three for writing", writing),
        of("data cell: lock three for reading", reading),
        Operation::new("deque: push", MANY, shared, [nothing, push, empty]),
        Operation::new("deque: pop", MANY, shared, [push, pop, nothing]),
        Operation::new("deque, biased: push", MANY, biased, [nothing, push, empty]),
        Operation::new("deque, biased: pop", MANY, biased, [push, pop, nothing]),
        Operation::new(
            "deque: steal half, 64 items",
            VICTIMS as u64,
            Robbery::new,
            [Robbery::prepare, Robbery::steal, Robbery::restore],
        ),
        Operation::new("injector: push", MANY, injector, [nothing, inject, take]),
        Operation::new("injector: pop", MANY, injector, [inject, take, nothing]),
        Operation::new(
            "injector: pop a batch of 32",
            BATCHES,
            Batches::new,
            [Batches::prepare, Batches::take, Batches::restore],
        ),
        Operation::new("event queue: push", EVENTS, channel, [nothing, send, drain]),
        Operation::new(
            "event queue: drain, per event",
            EVENTS,
            channel,
            [send, drain, nothing],
        ),
        Operation::new("process state: turn", MANY, idle, [nothing, turns, nothing]),
        Operation::new(
            "parker: unpark and park",
            MANY,
            parker,
            [nothing, tokens, nothing],
        ),
        Operation::new(
            "slab: allocate and release",
            MANY,
            || Slab::new(u64::from),
            [nothing, allocate_and_release, nothing],
        ),
        Operation::new(
            "slab: pin and unpin",
            MANY,
            occupied,
            [nothing, pin_and_unpin, nothing],
        ),
    ]
}

/// The build scheduler, of which one thread is all builds and all workers: a job of one dependency
/// is scheduled, picked by the worker that has that, completed, and its result is taken.
struct Farm {
    scheduler: Scheduler<u64, u64, u64>,
    /// Each has the artifact of its own number.
    workers: Vec<WorkerId>,
}

impl Farm {
    const WORKERS: u64 = 100;

    fn new() -> Self {
        let timers = Timers::new().expect("a thread");
        let scheduler = Scheduler::new(Config::default(), &timers);
        let workers = (0..Self::WORKERS).map(|number| {
            let worker = scheduler.register_worker().wait().expect("not stopped");
            let added = scheduler.add_artifact(worker, number).wait();
            added.expect("it is there");
            worker
        });
        Self {
            workers: workers.collect(),
            scheduler,
        }
    }

    fn ids() -> impl Iterator<Item = (u64, usize)> {
        (0..JOBS).map(|job| (Self::WORKERS + job, (job % Self::WORKERS) as usize))
    }

    fn build(&mut self) {
        for (id, number) in Self::ids() {
            let (farm, worker) = (&self.scheduler, self.workers[number]);
            let job = Job::with_dependencies(id, [number as u64], id);
            let pending = farm.schedule_job(job);
            let job = farm.pick_job(worker).wait().expect("a job");
            let report = farm.on_job_complete(worker, job.id, job.content);
            assert_eq!(report.wait(), Ok(true));
            assert_eq!(*pending.wait().expect("a result"), id);
        }
    }

    fn forget(&mut self) {
        for (id, number) in Self::ids() {
            let removed = self.scheduler.remove_artifact(self.workers[number], id);
            assert_eq!(removed.wait(), Ok(true));
        }
    }
}

/// A set of three data cells that nobody else wants.
fn three(access: Access) -> LockSet {
    let cells = [0_u64; 3].map(|value| (Arc::new(DataCell::new(value)) as _, access));
    LockSet::new(cells).expect("three cells")
}

fn lock_all(set: &mut LockSet) {
    for _ in 0..MANY {
        drop(black_box(set.try_lock()).expect("free"));
    }
}

fn shared() -> Worker<u64> {
    Worker::with_capacity(2 * MANY as usize)
}

/// A deque that is its owner's: no thief has come.
fn biased() -> Worker<u64> {
    asymmetric::register();
    let mut worker = Worker::biased(2 * MANY as usize);
    worker.push(0);
    empty(&mut worker);
    worker
}

/// There is room.
fn push(worker: &mut Worker<u64>) {
    (0..MANY).for_each(|item| worker.push(black_box(item)));
}

/// There are items.
fn pop(worker: &mut Worker<u64>) {
    for _ in 0..MANY {
        black_box(worker.pop());
    }
}

fn empty(worker: &mut Worker<u64>) {
    while worker.pop().is_some() {}
}

/// `steal_half_into` of 64 items: the thief gets one, its own deque the others.
struct Robbery {
    victims: Vec<Worker<u64>>,
    stealers: Vec<Stealer<u64>>,
    thief: Worker<u64>,
}

impl Robbery {
    fn new() -> Self {
        let victims = (0..VICTIMS).map(|_| Worker::with_capacity(2 * HALF));
        let victims: Vec<_> = victims.collect();
        Self {
            stealers: victims.iter().map(Worker::stealer).collect(),
            thief: Worker::with_capacity(VICTIMS * HALF),
            victims,
        }
    }

    fn prepare(&mut self) {
        for victim in &self.victims {
            (0..2 * HALF as u64).for_each(|item| victim.push(item));
        }
    }

    fn steal(&mut self) {
        for stealer in &self.stealers {
            assert!(black_box(stealer.steal_half_into(&self.thief, HALF)).is_success());
        }
    }

    fn restore(&mut self) {
        assert_eq!(self.thief.len(), VICTIMS * (HALF - 1));
        empty(&mut self.thief);
        self.victims.iter_mut().for_each(empty);
    }
}

/// An injector that stays: its drop claims as well, and the compiler puts a claim into the pop if
/// that is the only one.
type Kept = ManuallyDrop<Injector<u64>>;

/// No other producer competes.
fn inject(injector: &mut Kept) {
    (0..MANY).for_each(|item| injector.push(black_box(item)));
}

/// No other consumer competes. The pop is called, as it is where there are several.
fn take(injector: &mut Kept) {
    let pop: fn(&Injector<u64>) -> Option<u64> = black_box(Injector::pop);
    for _ in 0..MANY {
        black_box(pop(injector));
    }
}

/// Thirty-two items with one claim: one comes back, the worker's deque gets the others.
///
/// A batch ends where its block does, so a block of 32 slots is one batch.
struct Batches {
    injector: Injector<u64, { MORE + 1 }>,
    worker: Worker<u64>,
}

impl Batches {
    fn new() -> Self {
        Self {
            injector: Injector::with_blocks(),
            worker: Worker::with_capacity(BATCHES as usize * (MORE + 1)),
        }
    }

    fn prepare(&mut self) {
        (0..BATCHES * (MORE as u64 + 1)).for_each(|item| self.injector.push(item));
    }

    fn take(&mut self) {
        for _ in 0..BATCHES {
            black_box(self.injector.pop_batch_into(&self.worker, MORE));
        }
    }

    fn restore(&mut self) {
        assert!(self.injector.is_empty());
        assert_eq!(self.worker.len(), BATCHES as usize * MORE);
        empty(&mut self.worker);
    }
}

/// Both ends of an event queue.
type Ends = (Sender<u64>, Receiver<u64>);

/// No other producer competes.
fn send((sender, _): &mut Ends) {
    for event in 0..EVENTS {
        assert!(sender.push(black_box(event)).is_ok());
    }
}

fn drain((_, receiver): &mut Ends) {
    let drained = receiver.drain(|event| {
        black_box(event);
    });
    assert_eq!(drained as u64, EVENTS);
}

/// Each event is received before the next one is pushed.
pub(crate) fn one_by_one(times: u64) {
    let (sender, mut receiver) = channel();
    for event in 0..times {
        mark(); // The road of an event begins.
        assert!(sender.push(black_box(event)).is_ok());
        assert_eq!(receiver.recv(), Some(event));
    }
}

/// The word of a process that waits for a message.
fn idle() -> ProcessState {
    let state = ProcessState::new_ready();
    assert!(state.start().is_ok());
    assert!(state.idle().is_ok());
    state
}

/// Woken by a message, started, and idle again.
fn turns(state: &mut ProcessState) {
    for _ in 0..MANY {
        assert_eq!(black_box(&*state).wake(Reason::Message), Wake::Enqueue);
        assert!(black_box(state.start()).is_ok());
        assert!(black_box(state.idle()).is_ok());
    }
}

fn parker() -> (Parker, Unparker) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    (parker, unparker)
}

/// `unpark` before `park`: the token is there already, and nobody sleeps.
fn tokens((parker, unparker): &mut (Parker, Unparker)) {
    for _ in 0..MANY {
        unparker.unpark();
        parker.park();
    }
}

/// The slot was used before.
fn allocate_and_release(slab: &mut Slab<u64>) {
    for _ in 0..MANY {
        let slot = slab.allocate().expect("slots are left");
        slab.release(black_box(slot));
    }
}

/// A word with an occupant, and the occupant's generation.
fn occupied() -> (Occupancy, u32) {
    let occupancy = Occupancy::new();
    let generation = occupancy.occupy(1);
    (occupancy, generation)
}

fn pin_and_unpin((occupancy, generation): &mut (Occupancy, u32)) {
    for _ in 0..MANY {
        assert!(occupancy.pin(black_box(*generation)).is_ok());
        assert_ne!(black_box(occupancy.unpin()), Unpinned::Last);
    }
}
