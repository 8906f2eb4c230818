//! The harness for whole pools and schedulers under [shuttle]: they are too large for loom, but
//! small enough for thousands of schedules a second.
//!
//! A test runs under two schedulers: uniformly random, and PCT (Burckhardt et al., *A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs*, ASPLOS 2010), which finds a bug that
//! needs few preemptions with a known probability. Both are seeded: the same seed repeats a run,
//! and the line that shuttle prints repeats a failing schedule. Shuttle's atomics are all
//! sequentially consistent, so missing orderings are left to the models of `loom-tests`.
//!
//! A lost wake-up shows as a deadlock, which shuttle detects: no test here has a clock or a time
//! limit.
//!
//! Run with `cargo xtask shuttle`; without `--cfg shuttle` this package has the matrix alone.
#![cfg(shuttle)]

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use filch_processors::Processors;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// The most preemptions that a bug may need for PCT to look for it.
const DEPTH: usize = 3;

/// The steps after which an execution counts as endless.
const ENDLESS: usize = 1_000_000;

/// Runs `test` under `schedules` random schedules and as many of PCT's, or under the one schedule
/// that `FILCH_SHUTTLE_REPLAY` holds. `FILCH_SHUTTLE_SCHEDULES` and `FILCH_SHUTTLE_SEED` replace
/// the number, if they do not say `own`, or `quicker`, a quarter of it, and the seed.
///
/// # Panics
/// If an execution does, deadlocks, or does not end.
pub fn explore(claim: &str, schedules: usize, test: impl Fn() + Send + Sync + 'static) {
    explore_all(claim, schedules, &[""], move |_| test());
}

/// Does the same with each of `cases`, under so many schedules each, as one exploration.
///
/// # Panics
/// As [`explore`].
pub fn explore_all<C: Copy + Display + Send + Sync + 'static>(
    claim: &str,
    schedules: usize,
    cases: &[C],
    test: impl Fn(C) + Send + Sync + 'static,
) {
    let test = Arc::new(test);
    let of = |case: C| {
        let test = Arc::clone(&test);
        move || test(case)
    };
    if let Ok(schedule) = std::env::var("FILCH_SHUTTLE_REPLAY") {
        for &case in cases {
            shuttle::replay(of(case), &schedule);
        }
        return;
    }
    let schedules = match std::env::var("FILCH_SHUTTLE_SCHEDULES").as_deref() {
        Ok("quicker") => schedules.div_ceil(4),
        Ok("own") => schedules,
        _ => asked("FILCH_SHUTTLE_SCHEDULES").unwrap_or(schedules),
    };
    let seed = asked("FILCH_SHUTTLE_SEED").unwrap_or(0);
    run(claim, "random", schedules, cases, of, || {
        RandomScheduler::new_from_seed(seed, schedules)
    });
    run(claim, "pct", schedules, cases, of, || {
        PctScheduler::new_from_seed(seed, DEPTH, schedules)
    });
}

/// Does the same with each of `cases`, which stands behind the claim.
///
/// # Panics
/// As [`explore`].
pub fn explore_each<C: Copy + Display + Send + Sync + 'static>(
    claim: &str,
    schedules: usize,
    cases: impl IntoIterator<Item = C>,
    test: fn(C),
) {
    for case in cases {
        explore(&format!("{claim}: {case}"), schedules, move || test(case));
    }
}

/// Starts a thread that shrinks the pool to one processor, and grows it to three.
///
/// # Panics
/// If a resize is refused.
pub fn resizer<T: Send + 'static>(pool: &Arc<Processors<T>>) -> JoinHandle<()> {
    let pool = Arc::clone(pool);
    thread::spawn(move || {
        pool.resize(1).unwrap();
        pool.resize(3).unwrap();
    })
}

/// Says at a failure how it is repeated here. Shuttle's own words name its functions, and a seed
/// that `--seed` does not take: it is that of one schedule.
struct SaysHowToRepeat<'a>(&'a str);

impl Drop for SaysHowToRepeat<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = self.0;
            eprintln!("to repeat it: cargo xtask shuttle --replay <failing schedule> {test}");
        }
    }
}

/// Names the case at a failure: a deadlock does not.
struct NamesCase<C: Display>(C);

impl<C: Display> Drop for NamesCase<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the case that failed: {}", self.0);
        }
    }
}

fn run<C: Copy + Display, T: Fn() + Send + Sync + 'static, S: Scheduler + 'static>(
    claim: &str,
    kind: &str,
    schedules: usize,
    cases: &[C],
    test: impl Fn(C) -> T,
    scheduler: impl Fn() -> S,
) {
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let started = Instant::now();
    let ended = Arc::new(AtomicUsize::new(0));
    let _repeat = SaysHowToRepeat(&name);
    for &case in cases {
        let mut config = Config::new();
        config.stack_size = 256 * 1024;
        config.failure_persistence = FailurePersistence::Print;
        config.max_steps = MaxSteps::FailAfter(ENDLESS);
        config.silence_warnings = true;
        let _case = NamesCase(case);
        let (ended, test) = (Arc::clone(&ended), test(case));
        Runner::new(scheduler(), config).run(move || {
            test();
            ended.fetch_add(1, Ordering::Relaxed);
        });
    }
    println!(
        "schedules\t{name}\t{kind}\t{}\t{:.2}\t{claim}",
        ended.load(Ordering::Relaxed),
        started.elapsed().as_secs_f64()
    );
    assert_eq!(
        ended.load(Ordering::Relaxed),
        cases.len() * schedules,
        "schedules were left out"
    );
}

fn asked<N: std::str::FromStr>(variable: &str) -> Option<N> {
    let value = std::env::var(variable).ok()?;
    let Ok(number) = value.parse() else {
        panic!("{variable} is a number, not `{value}`");
    };
    Some(number)
}
