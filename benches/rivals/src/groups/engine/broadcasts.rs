//! A task to all workers of a scheduler.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::unbounded;
use filch_engine::Worker;

use super::{Add, Counter, Ends, Erased, add, counting, erased};
use crate::clock::per_operation;
use crate::harness::Scenario;

pub(super) fn scenario(count: usize) -> Scenario {
    let workers = count as u64;
    let tasks = 50_000 / workers;
    Scenario::new(format!("a broadcast to {workers} workers"), "ns a delivery")
        .contender("filch-engine", move || filch(tasks, workers))
        .contender("a crossbeam channel each", move || channels(tasks, workers))
}

/// Each worker's data is its own, and has no lock.
fn filch(tasks: u64, workers: u64) -> f64 {
    let engine = Ends::new();
    let scheduler = engine.start("takes");
    let (ended, has_ended) = mpsc::channel();
    for number in 0..workers {
        let worker = Worker::new(number.to_string()).local(Counter::default);
        add(&scheduler, counting(worker, tasks, ended.clone()));
    }
    let sender = engine.0.sender::<Add>();
    let began = Instant::now();
    for number in 1..=tasks {
        sender.send(Add(number));
    }
    let ended = (0..workers).map(|_| has_ended.recv().expect("all run"));
    let ended = ended.max().unwrap_or(began);
    per_operation(ended - began, tasks * workers)
}

/// One thread looks into all of them, and has the data of each.
fn channels(tasks: u64, workers: u64) -> f64 {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..workers).map(|_| unbounded::<Erased>()).unzip();
    thread::scope(|scope| {
        let takes = scope.spawn(|| {
            let mut counters: Vec<_> = (0..workers).map(|_| Counter::default()).collect();
            let mut left = tasks * workers;
            while left > 0 {
                let before = left;
                for (receiver, counter) in receivers.iter().zip(&mut counters) {
                    for task in receiver.try_iter().take(64) {
                        task(counter);
                        left -= 1;
                    }
                }
                if left == before {
                    thread::yield_now();
                }
            }
            Instant::now()
        });
        let began = Instant::now();
        for number in 0..tasks {
            for sender in &senders {
                let task = erased(Add(number));
                sender.send(task).expect("the receiver lives");
            }
        }
        let ended = takes.join().expect("no panic");
        per_operation(ended - began, tasks * workers)
    })
}
