//! The life of a pool: it is made, has something to do once, and is dropped.

use std::hint::black_box;
use std::time::Instant;

use crate::groups::fairness::pools;
use crate::harness::Scenario;
use crate::pools::{Pool, TOTAL};
use crate::total::sum_to;
use crate::work::workers;

/// Tasks that a new pool is given.
const TASKS: u64 = 100;

/// The use of a new pool; `Made` is all that is timed of it.
#[derive(Clone, Copy)]
enum Life {
    Made,
    Dropped,
    Executes,
    RunsTasks,
}

pub(super) fn scenarios() -> impl Iterator<Item = Scenario> {
    let lives = 25;
    let all = [
        ("make a pool", Life::Made),
        ("make a pool, drop it", Life::Dropped),
        ("make a pool, execute one, drop it", Life::Executes),
        ("make a pool, 100 tasks, wait, drop it", Life::RunsTasks),
    ];
    all.into_iter().map(move |(kind, life)| {
        let scenario = Scenario::of_workers(kind, workers(), "us");
        pools!(scenario, latencies, |P| move || {
            (0..lives).map(|_| micros::<P>(life)).collect()
        })
    })
}

fn micros<P: Pool>(life: Life) -> f64 {
    let began = Instant::now();
    let pool = black_box(P::here());
    match life {
        Life::Made => {
            let micros = began.elapsed().as_secs_f64() * 1e6;
            drop(pool);
            return micros;
        }
        Life::Dropped => {}
        Life::Executes => pool.execute(),
        Life::RunsTasks => {
            TOTAL.expect(sum_to(TASKS));
            (1..=TASKS).for_each(|number| pool.spawn(move || TOTAL.add(number)));
            TOTAL.wait();
        }
    }
    drop(pool);
    began.elapsed().as_secs_f64() * 1e6
}
