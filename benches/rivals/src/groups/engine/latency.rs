//! One task at a time, there and back.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;
use filch_engine::{Context, Worker};
use parking_lot::Mutex;

use super::{Add, Counter, Ends, add, erased, run};
use crate::harness::Scenario;

pub(super) fn scenario() -> Scenario {
    let trips = 2500;
    Scenario::new("a task there and back, one at a time", "us")
        .latencies("filch-engine", move || filch(trips))
        .latencies("crossbeam-channel, parking_lot", move || channel(trips))
}

/// The answer.
#[derive(Clone, Copy)]
struct Back;

struct Trips {
    left: Instant,
    latencies: Vec<f64>,
    done: mpsc::Sender<Vec<f64>>,
}

impl Trips {
    fn new(trips: u64) -> (Self, mpsc::Receiver<Vec<f64>>) {
        let (done, is_done) = mpsc::channel();
        let latencies = Vec::with_capacity(trips as usize);
        let trips = Self {
            left: Instant::now(),
            latencies,
            done,
        };
        (trips, is_done)
    }

    /// Counts a return; returns whether it leaves again.
    fn is_back(&mut self) -> bool {
        let now = Instant::now();
        self.latencies.push((now - self.left).as_secs_f64() * 1e6);
        self.left = now;
        let goes_on = self.latencies.len() < self.latencies.capacity();
        if !goes_on {
            let latencies = std::mem::take(&mut self.latencies);
            self.done.send(latencies).expect("the caller waits");
        }
        goes_on
    }
}

fn filch(trips: u64) -> Vec<f64> {
    let engine = Ends::new();
    let answers = Worker::new("answers").owns(Counter::default).on(
        |task: &Add, counter: &mut Counter, context: Context<'_>| {
            counter.add(task.0);
            context.broadcast(Back);
        },
    );
    add(&engine.start("answers"), answers);
    let (trips, is_done) = Trips::new(trips);
    let asks = Worker::new("asks").owns(move || trips).on(
        |_: &Back, trips: &mut Trips, context: Context<'_>| {
            if trips.is_back() {
                context.broadcast(Add(1));
            }
        },
    );
    add(&engine.start("asks"), asks);
    engine.0.broadcast(Back);
    is_done.recv().expect("all come back")
}

fn channel(trips: u64) -> Vec<f64> {
    let (asks, asked) = unbounded();
    let (answers, answered) = unbounded();
    let counters = [(); 2].map(|()| Mutex::new(Counter::default()));
    let (mut trips, is_done) = Trips::new(trips);
    thread::scope(|scope| {
        let [there, here] = &counters;
        scope.spawn(move || {
            while let Ok(task) = asked.recv() {
                run(task, there);
                // The other one may be gone by now.
                let _ = answers.send(erased(Add(1)));
            }
        });
        scope.spawn(move || {
            trips.left = Instant::now();
            loop {
                let task = erased(Add(1));
                asks.send(task).expect("the other one lives");
                let task = answered.recv().expect("the other one lives");
                run(task, here);
                if !trips.is_back() {
                    break;
                }
            }
        });
    });
    is_done.recv().expect("all have come back")
}
