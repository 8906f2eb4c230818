//! Tasks from a worker of one scheduler to a worker of another, as fast as they go; and from those
//! of several schedulers.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Sender, unbounded};
use filch_engine::{Context, Worker};
use parking_lot::Mutex;

use super::{Add, Counter, Ends, Erased, add, erased, run};
use crate::clock::per_operation;
use crate::harness::{Effort, Scenario};
use crate::total::sum_to;

pub(super) fn scenario(senders: usize, effort: Effort) -> Scenario {
    let each = effort.operations(400_000) / senders as u64;
    let name = match senders {
        1 => "a task to another scheduler, at saturation".to_owned(),
        _ => format!("a task from {senders} schedulers to one, at saturation"),
    };
    Scenario::new(name, "ns")
        .contender("filch-engine", move || filch(senders, each))
        .contender("crossbeam-channel, parking_lot", move || {
            channel(senders, each)
        })
        .on_curve("a task from schedulers to one", senders)
}

fn filch(senders: usize, each: u64) -> f64 {
    let engine = Ends::new();
    let tasks = senders as u64 * each;
    let (ended, has_ended) = mpsc::channel();
    let takes =
        Worker::new("takes")
            .owns(Counter::default)
            .on(move |task: &Add, counter: &mut Counter| {
                counter.add(task.0);
                if counter.ran == tasks {
                    assert_eq!(counter.sum, senders as u64 * sum_to(each));
                    ended.send(Instant::now()).expect("the caller waits");
                }
            });
    add(&engine.start("takes"), takes);
    let (began, has_begun) = mpsc::channel();
    let sending = (0..senders).map(|number| {
        let began = began.clone();
        let name = format!("sends {number}");
        let sends = Worker::new(&*name).run(move |context: Context<'_>| {
            began.send(Instant::now()).expect("the caller waits");
            (1..=each).for_each(|number| {
                context.broadcast(Add(number));
            });
        });
        engine.start(&name).add(sends).expect("it is alone")
    });
    let sending: Vec<_> = sending.collect();
    let began = (0..senders).map(|_| has_begun.recv().expect("it sends"));
    let (began, ended) = (began.min(), has_ended.recv().expect("all run"));
    for sends in sending {
        sends.join();
    }
    per_operation(ended - began.unwrap_or(ended), tasks)
}

fn channel(senders: usize, each: u64) -> f64 {
    let (sender, receiver) = unbounded();
    let counter = Mutex::new(Counter::default());
    let tasks = senders as u64 * each;
    thread::scope(|scope| {
        let counter = &counter;
        let takes = scope.spawn(move || {
            while let Ok(task) = receiver.recv() {
                run(task, counter);
            }
            Instant::now()
        });
        let sends = move |sender: Sender<Erased>| {
            let began = Instant::now();
            for number in 1..=each {
                let task = erased(Add(number));
                sender.send(task).expect("the receiver lives");
            }
            began
        };
        let sending = (0..senders).map(|_| {
            let sender = sender.clone();
            scope.spawn(move || sends(sender))
        });
        let sending: Vec<_> = sending.collect();
        drop(sender);
        let began = sending.into_iter();
        let began = began.map(|sends| sends.join().expect("no panic")).min();
        let ended = takes.join().expect("no panic");
        assert_eq!(counter.lock().sum, senders as u64 * sum_to(each));
        per_operation(ended - began.unwrap_or(ended), tasks)
    })
}
