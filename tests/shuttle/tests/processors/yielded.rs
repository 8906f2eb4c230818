//! Tasks that give way, and tasks that never rest. The clock of these builds advances by 100 µs
//! each time it is read, so processors look around and rotate.

use filch_processors::Processors;
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle_tests::{explore, resizer};

use super::pool::{
    Ran, Task, all_meet, all_run_before_the_stop, as_a_task, restless, task, three_ends, with_pool,
};

/// Two threads have tasks give way, while machines start, search or sleep, and the pool is stopped
/// at once. A failure: a look leaves a task out, which stays behind, or a task is run twice. To
/// idle outside threads there is no difference between the two ways.
#[test]
fn what_gave_way_before_the_stop_runs() {
    all_run_before_the_stop("everything that gave way before the stop runs once", |_| {
        as_a_task(Processors::give_way)
    });
    let claim = "everything that gave way at its end before the stop runs once";
    all_run_before_the_stop(claim, |_| as_a_task(Processors::give_way_at_end));
}

/// As many tasks as processors give way, and end only when all have begun. A failure is a deadlock:
/// one that gave way waits beside a sleeper.
#[test]
fn those_that_gave_way_meet() {
    let claim = "no task that gave way waits beside an idle processor";
    all_meet(claim, 2, |_| as_a_task(Processors::give_way));
}

/// Makes a task that gives way so many times.
fn yielder(turns: usize, then: impl FnOnce() + Send + 'static) -> Task {
    task(move |pool: &Processors<Task>| match turns {
        0 => then(),
        _ => pool.give_way_at_end(yielder(turns - 1, then)),
    })
}

/// One processor. A task that never rests, and ends when two others have given way three times each
/// and a task of the global queue has run; another thread injects meanwhile. A failure is an
/// endless schedule: one of these starves.
#[test]
fn beside_a_task_that_never_rests_all_get_a_turn() {
    explore(
        "beside a task that never rests all get a turn",
        1_000,
        || {
            let turns = Arc::new(AtomicUsize::new(0));
            let late = Ran::new();
            with_pool(1, |pool| {
                let (turns, late) = (Arc::clone(&turns), late.clone());
                // One task makes all the others: otherwise the restless one might run for ever.
                pool.inject(task(move |pool| {
                    let over = Arc::new(AtomicBool::new(false));
                    let [first, second, from_outside] = three_ends(&over);
                    pool.give_way(yielder(3, first));
                    pool.give_way(yielder(3, second));
                    pool.inject(task(move |_| from_outside()));
                    pool.schedule(restless(over, turns));
                }));
                pool.inject(task(move |_| late.note(0)));
            });
            assert!(
                turns.load(Ordering::SeqCst) >= 7,
                "between theirs it had its own"
            );
            late.assert_each_once(1);
        },
    );
}

/// Tasks give way while the number of processors changes. Quiescence comes when all have ended.
#[test]
fn yielders_resizes_and_quiescence() {
    explore(
        "tasks that give way, resizes, and the end of all",
        1_000,
        || {
            let ended = Arc::new(AtomicUsize::new(0));
            with_pool(2, |pool| {
                for _ in 0..3 {
                    let ended = Arc::clone(&ended);
                    pool.inject(yielder(3, move || {
                        ended.fetch_add(1, Ordering::SeqCst);
                    }));
                }
                let resizer = resizer(pool);
                pool.wait_quiescent(None).unwrap();
                assert_eq!(ended.load(Ordering::SeqCst), 3);
                resizer.join().unwrap();
            });
        },
    );
}
