//! Jobs in order: a turn for each, which runs the oldest job that is left.

use std::sync::{Arc as StdArc, Mutex as StdMutex};

use filch_fork_join::Worker;
use filch_fork_join::protocol::run_one;
use filch_models::Bound;
use filch_sync::thread;

use super::{Plain, registered, shared};

/// A job of one spawner: what it is given, and the slots of the threads on which jobs have begun.
struct Jobs {
    given: [Plain; 3],
    /// Each with the number of the job.
    begun: StdMutex<Vec<(usize, usize)>>,
}

/// Spawns the job with that number.
fn spawn(worker: &Worker, jobs: &StdArc<Jobs>, number: usize) {
    let jobs = StdArc::clone(jobs);
    jobs.given[number].set(1);
    worker.spawn_in_order(move |worker| {
        jobs.begun.lock().unwrap().push((worker.index(), number));
        assert_eq!(jobs.given[number].get(), 1, "it runs twice");
        jobs.given[number].set(2);
    });
}

/// Two threads, both of which spawn and run: one spawns two jobs, the other one a third. So a turn
/// may end, and run another's job, while the next one is put in. A failure: a job that runs twice,
/// before what its spawner did (a causality violation), before an older one of the same spawner on
/// the same thread, or never; or a turn without a job (a panic).
#[test]
fn each_job_has_a_turn() {
    Bound::preemptions(3, 4_000)
        .outcomes("in order: two spawners, three jobs", || {
            let shared = shared();
            let (worker, other) = (registered(&shared), registered(&shared));
            let (here, there) = (worker.index(), other.index());
            let jobs = StdArc::new(Jobs {
                given: std::array::from_fn(|_| Plain::new()),
                begun: StdMutex::default(),
            });
            let spawner = thread::spawn({
                let jobs = StdArc::clone(&jobs);
                move || {
                    spawn(&other, &jobs, 2);
                    (0..2).for_each(|_| _ = run_one(&other));
                }
            });
            spawn(&worker, &jobs, 0);
            spawn(&worker, &jobs, 1);
            run_one(&worker);
            spawner.join().unwrap();
            while run_one(&worker) {}
            let begun = std::mem::take(&mut *jobs.begun.lock().unwrap());
            assert!(
                jobs.given.iter().all(|given| given.get() == 2),
                "left behind"
            );
            for slot in [here, there] {
                let mine = begun.iter().filter(|&&(runner, _)| runner == slot);
                let numbers = mine.map(|&(_, number)| number).filter(|&number| number < 2);
                assert!(numbers.is_sorted(), "out of order: {begun:?}");
            }
            begun.iter().filter(|&&(runner, _)| runner == there).count()
        })
        .assert_exactly([1, 2]);
}
