//! Tasks from a worker of one scheduler to a worker of another, as fast as they go.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;
use filch_engine::{Context, Worker};
use parking_lot::Mutex;

use super::{Add, Counter, Ends, add, counting, erased, run};
use crate::clock::per_operation;
use crate::harness::Scenario;
use crate::total::sum_to;

pub(super) fn scenario() -> Scenario {
    let tasks = 50_000;
    Scenario::new("a task to another scheduler, at saturation", "ns")
        .contender("filch-engine", move || filch(tasks))
        .contender("crossbeam-channel, parking_lot", move || channel(tasks))
}

fn filch(tasks: u64) -> f64 {
    let engine = Ends::new();
    let (ended, has_ended) = mpsc::channel();
    let takes = Worker::new("takes").owns(Counter::default);
    add(&engine.start("takes"), counting(takes, tasks, ended));
    let (began, has_begun) = mpsc::channel();
    let sends = Worker::new("sends").run(move |context: Context<'_>| {
        began.send(Instant::now()).expect("the caller waits");
        (1..=tasks).for_each(|number| {
            context.broadcast(Add(number));
        });
    });
    let sends = engine.start("sends").add(sends).expect("it is alone");
    let began = has_begun.recv().expect("it sends");
    let ended = has_ended.recv().expect("all run");
    sends.join().expect("nobody calls it from inside");
    per_operation(ended - began, tasks)
}

fn channel(tasks: u64) -> f64 {
    let (sender, receiver) = unbounded();
    let counter = Mutex::new(Counter::default());
    thread::scope(|scope| {
        let counter = &counter;
        let takes = scope.spawn(move || {
            while let Ok(task) = receiver.recv() {
                run(task, counter);
            }
            Instant::now()
        });
        let sends = scope.spawn(move || {
            let began = Instant::now();
            for number in 1..=tasks {
                let task = erased(Add(number));
                sender.send(task).expect("the receiver lives");
            }
            began
        });
        let began = sends.join().expect("no panic");
        let ended = takes.join().expect("no panic");
        assert_eq!(counter.lock().sum, sum_to(tasks));
        per_operation(ended - began, tasks)
    })
}
