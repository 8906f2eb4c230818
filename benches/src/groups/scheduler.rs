//! Processes that come and go, and processes that send messages.
//!
//! To the rivals a process is a task, and its mailbox an unbounded channel. Every pool has [`WORKERS`] threads and lives
//! as long as its scenario; while another one has its turn it sleeps.

use std::cell::LazyCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use async_executor::Executor;
use filch_scheduler::{
    Context, Event, Events, Handle, InitError, Pid, Process, Protocol, Scheduler, StepOutput,
};
use futures_lite::future::block_on;
use tokio::sync::mpsc;

use crate::harness::{Effort, Scenario, per_operation, time};
use crate::rivals::{ExecutorThreads, WORKERS, rayon_pool, tokio_runtime};
use crate::total::{Total, sum_to};

/// Processes that are spawned before anybody waits for them.
const WAVE: u64 = 100_000;

/// Processes in the ring.
const RING: usize = 1000;

/// Senders of the fan-in.
const SENDERS: u64 = 100;

/// Messages that each of them sends in one go.
const EACH: u64 = 1000;

/// How processes tell the thread outside that they are done. One for all pools: a pool does nothing while it is not its
/// turn.
static TOTAL: Total = Total::new();

/// What runs short tasks.
trait Spawner: 'static {
    fn new() -> Self;
    /// Spawns tasks that return 1, 2, … `count`, waits for all, and returns the sum of what they returned.
    fn spawn_all(&self, count: u64) -> u64;
}

/// What runs processes that live on and have addresses.
trait Actors: 'static {
    type Address: Clone + Send + Sync + 'static;

    fn new() -> Self;
    /// A process that calls `behaviour` with each message.
    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address;
    fn send(to: &Self::Address, message: u64);
}

/// Numbers, nothing but numbers.
enum Numbers {}

impl Protocol for Numbers {
    type Input = u64;
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = u64;
    type Error = String;
}

type Filch = Scheduler<Numbers>;

fn filch() -> Filch {
    let scheduler = Scheduler::builder().workers(WORKERS).build();
    scheduler.expect("the system gives threads")
}

/// Ends in its first step.
#[derive(Default)]
struct Short {
    number: u64,
}

impl Process<Numbers> for Short {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        number: u64,
    ) -> Result<(), InitError<Numbers>> {
        self.number = number;
        Ok(())
    }

    fn step(
        &mut self,
        _context: &Context<'_, Numbers>,
        _events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        out.done(self.number);
        Ok(())
    }
}

impl Spawner for Filch {
    fn new() -> Self {
        filch()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let submit = |number| {
            let submitted = self.submit(Short::default(), "run", number);
            submitted.unwrap_or_else(|error| panic!("{error}"))
        };
        let processes: Vec<_> = (1..=count).map(submit).collect();
        let outputs = processes.into_iter().map(|process| {
            let joined = process.join();
            joined.unwrap_or_else(|error| panic!("{error}"))
        });
        outputs.sum()
    }
}

/// Calls `behaviour` with each message, until it is cancelled.
struct Actor<F> {
    behaviour: F,
}

impl<F: FnMut(u64) + Send> Process<Numbers> for Actor<F> {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        _input: u64,
    ) -> Result<(), InitError<Numbers>> {
        Ok(())
    }

    fn step(
        &mut self,
        _context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(message) => (self.behaviour)(message),
                Event::Cancel => out.done(0),
                Event::Completed { .. } => unreachable!("it yields no commands"),
            }
        }
        Ok(())
    }
}

impl Actors for Filch {
    type Address = (Handle<Numbers>, Pid);

    fn new() -> Self {
        filch()
    }

    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let process = self.submit(Actor { behaviour }, "run", 0);
        let process = process.unwrap_or_else(|error| panic!("{error}"));
        (self.handle(), process.pid())
    }

    fn send((scheduler, to): &Self::Address, message: u64) {
        let sent = scheduler.send(*to, message);
        sent.expect("the actor lives");
    }
}

type Tokio = tokio::runtime::Runtime;

impl Spawner for Tokio {
    fn new() -> Self {
        tokio_runtime()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| self.spawn(async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        self.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.expect("it does not panic");
            }
            sum
        })
    }
}

impl Actors for Tokio {
    type Address = mpsc::UnboundedSender<u64>;

    fn new() -> Self {
        tokio_runtime()
    }

    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let (address, mut mailbox) = mpsc::unbounded_channel();
        drop(self.spawn(async move {
            while let Some(message) = mailbox.recv().await {
                behaviour(message);
            }
        }));
        address
    }

    fn send(to: &Self::Address, message: u64) {
        to.send(message).expect("the actor lives");
    }
}

/// async-executor, with the channel of the same house.
struct Async {
    // Dropped after its threads, and with it the tasks that are left.
    _threads: ExecutorThreads,
    executor: Arc<Executor<'static>>,
}

impl Async {
    fn start() -> Self {
        let executor = Arc::new(Executor::new());
        Self {
            _threads: ExecutorThreads::start(&executor),
            executor,
        }
    }
}

impl Spawner for Async {
    fn new() -> Self {
        Self::start()
    }

    fn spawn_all(&self, count: u64) -> u64 {
        let spawn = |number| self.executor.spawn(async move { black_box(number) });
        let tasks: Vec<_> = (1..=count).map(spawn).collect();
        block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            sum
        })
    }
}

impl Actors for Async {
    type Address = async_channel::Sender<u64>;

    fn new() -> Self {
        Self::start()
    }

    fn actor(&self, mut behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let (address, mailbox) = async_channel::unbounded();
        let task = async move {
            while let Ok(message) = mailbox.recv().await {
                behaviour(message);
            }
        };
        self.executor.spawn(task).detach();
        address
    }

    fn send(to: &Self::Address, message: u64) {
        to.try_send(message).expect("the actor lives");
    }
}

type Rayon = rayon::ThreadPool;

impl Spawner for Rayon {
    fn new() -> Self {
        rayon_pool()
    }

    /// In a scope, whose tasks return nothing: they add to the sum themselves.
    fn spawn_all(&self, count: u64) -> u64 {
        let sum = AtomicU64::new(0);
        self.in_place_scope(|scope| {
            for number in 1..=count {
                let sum = &sum;
                scope.spawn(move |_| {
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        sum.into_inner()
    }
}

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let waves = effort.operations(8);
    let hops = effort.operations(2_000_000);
    let bursts = effort.operations(16);
    let requests = effort.operations(20_000);
    vec![
        Scenario::new("spawn 100k, wait for all", "ns per process")
            .contender("filch-scheduler", spawn::<Filch>(waves))
            .contender("tokio", spawn::<Tokio>(waves))
            .contender("async-executor", spawn::<Async>(waves))
            .contender("rayon scope", spawn::<Rayon>(waves)),
        Scenario::new("ring of 1000", "ns per hop")
            .contender("filch-scheduler", ring::<Filch>(hops))
            .contender("tokio mpsc", ring::<Tokio>(hops))
            .contender("async-executor, async-channel", ring::<Async>(hops)),
        Scenario::new("fan-in 100 x 1000", "ns per message")
            .contender("filch-scheduler", fan_in::<Filch>(bursts))
            .contender("tokio mpsc", fan_in::<Tokio>(bursts))
            .contender("async-executor, async-channel", fan_in::<Async>(bursts)),
        Scenario::new("request from outside, answer", "ns per request")
            .contender("filch-scheduler", request::<Filch>(requests))
            .contender("tokio mpsc", request::<Tokio>(requests))
            .contender("async-executor, async-channel", request::<Async>(requests)),
    ]
}

fn spawn<S: Spawner>(waves: u64) -> impl FnMut() -> f64 {
    let spawner = LazyCell::new(S::new);
    move || {
        let spawner = &*spawner;
        let elapsed = time(|| {
            for _ in 0..waves {
                assert_eq!(black_box(spawner.spawn_all(WAVE)), sum_to(WAVE));
            }
        });
        per_operation(elapsed, waves * WAVE)
    }
}

/// One message goes round. It says how many hops are left.
fn ring<A: Actors>(hops: u64) -> impl FnMut() -> f64 {
    let ring = LazyCell::new(|| {
        let actors = A::new();
        let first = Arc::new(OnceLock::new());
        let last = actors.actor({
            let first = Arc::clone(&first);
            move |hops| {
                let first = first.get().expect("the ring was closed before");
                pass_on::<A>(first, hops);
            }
        });
        let entry = (1..RING).fold(last, |next, _| {
            actors.actor(move |hops| pass_on::<A>(&next, hops))
        });
        assert!(first.set(entry.clone()).is_ok());
        (actors, entry)
    });
    move || {
        let (_, entry) = &*ring;
        TOTAL.expect(1);
        let elapsed = time(|| {
            A::send(entry, hops);
            TOTAL.wait();
        });
        per_operation(elapsed, hops)
    }
}

fn pass_on<A: Actors>(next: &A::Address, hops: u64) {
    match hops.checked_sub(1) {
        None => TOTAL.add(1),
        Some(left) => A::send(next, left),
    }
}

/// Many send as fast as they can, without giving way; one receives.
fn fan_in<A: Actors>(bursts: u64) -> impl FnMut() -> f64 {
    let processes = LazyCell::new(|| {
        let actors = A::new();
        let sink = actors.actor(|number| TOTAL.add(number));
        let sender = |_| {
            let sink = sink.clone();
            actors.actor(move |_go| {
                for number in 1..=EACH {
                    A::send(&sink, number);
                }
            })
        };
        let senders: Vec<_> = (0..SENDERS).map(sender).collect();
        (actors, senders)
    });
    move || {
        let (_, senders) = &*processes;
        let elapsed = time(|| {
            for _ in 0..bursts {
                TOTAL.expect(SENDERS * sum_to(EACH));
                for sender in senders {
                    A::send(sender, 0);
                }
                TOTAL.wait();
            }
        });
        per_operation(elapsed, bursts * SENDERS * EACH)
    }
}

/// Nothing else is going on: all workers sleep when the message comes, and this thread sleeps until the answer.
fn request<A: Actors>(requests: u64) -> impl FnMut() -> f64 {
    let process = LazyCell::new(|| {
        let actors = A::new();
        let process = actors.actor(|number| TOTAL.add(number));
        (actors, process)
    });
    move || {
        let (_, process) = &*process;
        let elapsed = time(|| {
            for number in 1..=requests {
                TOTAL.expect(number);
                A::send(process, number);
                TOTAL.wait();
            }
        });
        per_operation(elapsed, requests)
    }
}
