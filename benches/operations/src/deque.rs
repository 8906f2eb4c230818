//! The owner's two methods, strict and lazy, and a thief's half.

use std::hint::black_box;

use filch_deque::{Lazy, Policy, Stealer, Worker};

use crate::Operation;

/// Items that are pushed or popped in a round.
const ITEMS: u64 = 1024;

/// Items that a thief takes: half of what its victim has.
const HALF: usize = 64;

/// Victims that are robbed in a round.
const VICTIMS: usize = 16;

fn fill<P: Policy>(worker: &Worker<u64, P>, items: u64) {
    for item in 0..items {
        worker.push(black_box(item));
    }
}

fn empty<P: Policy>(worker: &Worker<u64, P>) {
    while worker.pop().is_some() {}
}

fn pop<P: Policy>(worker: &Worker<u64, P>) {
    for _ in 0..ITEMS {
        black_box(worker.pop());
    }
}

macro_rules! owner {
    ($push:ident, $pop:ident, $policy:literal, $worker:ty, $new:expr) => {
        #[doc = concat!("A ", $policy, " deque's `push`, where there is room.")]
        #[derive(Debug)]
        pub struct $push($worker);

        impl Operation for $push {
            const NAME: &'static str = concat!("deque, ", $policy, ": push");
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

        #[doc = concat!("A ", $policy, " deque's `pop`, where there is an item.")]
        #[derive(Debug)]
        pub struct $pop($worker);

        impl Operation for $pop {
            const NAME: &'static str = concat!("deque, ", $policy, ": pop");
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
    "strict",
    Worker<u64>,
    Worker::with_capacity(ITEMS as usize)
);
owner!(
    LazyPush,
    LazyPop,
    "lazy",
    Worker<u64, Lazy>,
    Worker::lazy(ITEMS as usize)
);

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
