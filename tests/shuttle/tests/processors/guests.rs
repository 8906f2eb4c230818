//! Guests: outside threads that run the task that they wait for, beside machines that start, search
//! and sleep.

use std::cell::Cell;

use filch_processors::{Awaited, Processors};
use shuttle::sync::{Arc, Barrier};
use shuttle::thread;
use shuttle_tests::{explore, resizer};

use super::pool::{Ran, Task, all_run_before_the_stop, as_a_task, task, with_pool};

/// Waits for the first task that it is asked about.
#[derive(Default)]
struct First(Cell<bool>);

impl Awaited<Task> for First {
    fn is_over(&self) -> bool {
        false
    }

    fn is(&self, _: &Task) -> bool {
        !self.0.replace(true)
    }
}

fn run_awaited(pool: &Processors<Task>, task: Task) {
    pool.run_awaited(task, &First::default());
}

/// Two threads come as guests, or find no processor, and the pool is stopped as soon as both are
/// done. A failure: a task is run twice, or left to a machine that nobody wakes.
#[test]
fn what_was_awaited_before_the_stop_runs() {
    all_run_before_the_stop("everything awaited before the stop runs once", |_| {
        as_a_task(run_awaited)
    });
}

/// The task of each of two guests makes another runnable, and waits for it in a blocking call;
/// there is one processor. A failure is a deadlock: nobody runs the task that a guest has left, or
/// a guest that is back gets no processor.
#[test]
fn a_guest_in_a_call_waits_for_what_it_has_left() {
    explore(
        "what a guest leaves behind runs while it blocks",
        3_000,
        || {
            let ran = Ran::new();
            with_pool(1, |pool| {
                let guests = [0, 2].map(|first| {
                    let (pool, ran) = (Arc::clone(pool), ran.clone());
                    thread::spawn(move || {
                        let meeting = Arc::new(Barrier::new(2));
                        let visit = task(move |pool| {
                            let (there, both) = (Arc::clone(&meeting), ran.clone());
                            pool.schedule(task(move |_| {
                                there.wait();
                                both.note(first + 1);
                            }));
                            pool.blocking(|| meeting.wait());
                            assert_eq!(pool.current(), Some(0), "it is back");
                            ran.note(first);
                        });
                        run_awaited(&pool, visit);
                    })
                });
                guests.into_iter().for_each(|guest| guest.join().unwrap());
            });
            ran.assert_each_once(4);
        },
    );
}

/// Guests come and go while the number of processors changes, and another thread waits until
/// nothing runs. A failure is a deadlock: a guest's processor is lost, or is not seen idle.
#[test]
fn guests_resizes_and_quiescence() {
    explore("guests, resizes, and quiescence", 1_000, || {
        let ran = Ran::new();
        with_pool(2, |pool| {
            let guest = {
                let (pool, ran) = (Arc::clone(pool), ran.clone());
                thread::spawn(move || {
                    for number in 0..3 {
                        let ran = ran.clone();
                        run_awaited(&pool, task(move |_| ran.note(number)));
                    }
                })
            };
            let resizer = resizer(pool);
            pool.wait_quiescent(None).unwrap();
            guest.join().unwrap();
            pool.wait_quiescent(None).unwrap();
            resizer.join().unwrap();
        });
        ran.assert_each_once(3);
    });
}

/// A thread makes a task runnable and waits for it; another thread's task may come before it. A
/// failure: that other task runs on the wrong thread, or is lost.
#[test]
fn whoever_helps_runs_its_own_task_or_none() {
    /// Waits for no task at all.
    struct Other;

    impl Awaited<Task> for Other {
        fn is_over(&self) -> bool {
            false
        }

        fn is(&self, _: &Task) -> bool {
            false
        }
    }

    explore("a helper leaves what is not its own", 3_000, || {
        let ran = Ran::new();
        with_pool(2, |pool| {
            let helper = thread::current().id();
            for number in 0..2 {
                let ran = ran.clone();
                pool.inject(task(move |_| {
                    assert_ne!(thread::current().id(), helper);
                    ran.note(number);
                }));
                pool.help(&Other);
            }
        });
        ran.assert_each_once(2);
    });
}
