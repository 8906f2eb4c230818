//! Threads that cannot begin: their scratch panics, as others' would whom the system refuses.

use filch_processors::{Config, Processors, Runner};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::Arc;
use shuttle::thread;
use shuttle_tests::explore;

use super::pool::{Ran, Task, task};

/// The first thread begins, every other one by chance.
struct Scarce;

impl Runner<Task> for Scarce {
    type Scratch = ();

    fn scratch(&self, thread: usize) {
        assert!(thread == 0 || thread_rng().gen_bool(0.5), "no thread today");
    }

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        task.run(pool);
    }
}

/// Two threads inject tasks, some of which make a blocking call, and the pool is stopped. A
/// failure: a task that waits for a thread that could not begin (a deadlock), is lost, or runs
/// twice; or an end that waits for such a thread.
#[test]
fn what_refused_threads_were_for_runs() {
    explore("others do what a refused thread was for", 3_000, || {
        let ran = Ran::new();
        let pool = Processors::new(Config::default().processors(3)).unwrap();
        let machines = Processors::start(&pool, Arc::new(Scarce)).unwrap();
        let inject = |pool: &Processors<Task>, ran: &Ran, numbers: std::ops::Range<usize>| {
            for number in numbers {
                let ran = ran.clone();
                pool.inject(task(move |pool| {
                    if number % 2 == 0 {
                        pool.blocking(thread::yield_now);
                    }
                    ran.note(number);
                }));
            }
        };
        let other = thread::spawn({
            let (pool, ran) = (Arc::clone(&pool), ran.clone());
            move || inject(&pool, &ran, 0..3)
        });
        inject(&pool, &ran, 3..6);
        other.join().unwrap();
        pool.stop();
        machines.join();
        ran.assert_each_once(6);
        assert_eq!(pool.threads().threads, 0);
    });
}
