//! The owner's two methods, of a shared deque and of a biased one, and a thief's half.

use std::hint::black_box;

use filch_deque::{Stealer, Worker};
use filch_sync::asymmetric;

use crate::Operation;

/// Items that are pushed or popped in a round.
const ITEMS: u64 = 1024;

/// Items that a thief takes: half of what its victim has.
const HALF: usize = 64;

/// Victims that are robbed in a round.
const VICTIMS: usize = 16;

fn fill(worker: &Worker<u64>, items: u64) {
    for item in 0..items {
        worker.push(black_box(item));
    }
}

fn empty(worker: &Worker<u64>) {
    while worker.pop().is_some() {}
}

fn pop(worker: &Worker<u64>) {
    for _ in 0..ITEMS {
        black_box(worker.pop());
    }
}

macro_rules! owner {
    ($push:ident, $pop:ident, $name:literal, $new:expr) => {
        #[doc = concat!("The `push` of ", $name, ", where there is room.")]
        #[derive(Debug)]
        pub struct $push(Worker<u64>);

        impl Operation for $push {
            const NAME: &'static str = concat!($name, ": push");
            const TIMES: u64 = ITEMS;

            fn new() -> Self {
                Self($new)
            }

            fn run(&mut self) {
                fill(&self.0, ITEMS);
            }

            fn restore(&mut self) {
                empty(&self.0);
            }
        }

        #[doc = concat!("The `pop` of ", $name, ", where there is an item.")]
        #[derive(Debug)]
        pub struct $pop(Worker<u64>);

        impl Operation for $pop {
            const NAME: &'static str = concat!($name, ": pop");
            const TIMES: u64 = ITEMS;

            fn new() -> Self {
                Self($new)
            }

            fn prepare(&mut self) {
                fill(&self.0, ITEMS);
            }

            fn run(&mut self) {
                pop(&self.0);
            }
        }
    };
}

owner!(
    Push,
    Pop,
    "deque",
    Worker::with_capacity(2 * ITEMS as usize)
);
owner!(BiasedPush, BiasedPop, "deque, biased", biased());

/// A deque that is its owner's: no thief has come.
fn biased() -> Worker<u64> {
    asymmetric::register();
    let worker = Worker::biased(2 * ITEMS as usize);
    fill(&worker, 1);
    empty(&worker);
    worker
}

/// `steal_half_into` of 64 items: the thief gets one, its own deque the others.
#[derive(Debug)]
pub struct StealHalf {
    victims: Vec<Worker<u64>>,
    stealers: Vec<Stealer<u64>>,
    thief: Worker<u64>,
}

impl Operation for StealHalf {
    const NAME: &'static str = "deque: steal half, 64 items";
    const TIMES: u64 = VICTIMS as u64;

    fn new() -> Self {
        let victims: Vec<Worker<u64>> = (0..VICTIMS)
            .map(|_| Worker::with_capacity(2 * HALF))
            .collect();
        Self {
            stealers: victims.iter().map(Worker::stealer).collect(),
            thief: Worker::with_capacity(VICTIMS * HALF),
            victims,
        }
    }

    fn prepare(&mut self) {
        for victim in &self.victims {
            fill(victim, 2 * HALF as u64);
        }
    }

    fn run(&mut self) {
        for stealer in &self.stealers {
            assert!(black_box(stealer.steal_half_into(&self.thief, HALF)).is_success());
        }
    }

    fn restore(&mut self) {
        assert_eq!(self.thief.len(), VICTIMS * (HALF - 1));
        empty(&self.thief);
        self.victims.iter().for_each(empty);
    }
}
