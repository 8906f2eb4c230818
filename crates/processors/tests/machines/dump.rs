//! The dump that a person with a hung pool reads.

use std::num::NonZeroU64;
use std::sync::{Arc, mpsc};

use filch_processors::{BoundId, BoundThread, Config, Machines, Processors, Runner};

use crate::pool::{finish, processors};

type Pool = Processors<Named>;

struct Named {
    name: u64,
    to: Option<BoundId>,
    work: Box<dyn FnOnce(&Pool) + Send>,
}

struct Names;

impl Runner<Named> for Names {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn bound_to(&self, task: &Named) -> Option<BoundId> {
        task.to
    }

    fn label(&self, task: &Named) -> Option<NonZeroU64> {
        NonZeroU64::new(task.name)
    }

    fn describe(&self, label: NonZeroU64) -> String {
        format!("order {label}")
    }

    fn run(&self, task: Named, pool: &Arc<Pool>, (): &mut ()) {
        (task.work)(pool);
    }
}

fn named(name: u64, to: Option<BoundId>, work: impl FnOnce(&Pool) + Send + 'static) -> Named {
    let work = Box::new(work);
    Named { name, to, work }
}

fn started(config: Config) -> (Arc<Pool>, Machines) {
    let pool = Pool::new(config).unwrap();
    let machines = Processors::start(&pool, Arc::new(Names)).unwrap();
    (pool, machines)
}

/// A `BoundThread` may be kept anywhere, and shared.
const _: fn() = || {
    fn can_be_shared<T: Send + Sync>() {}
    can_be_shared::<BoundThread<Named>>();
};

/// The first dump with all that in it.
fn dump_with(pool: &Pool, wanted: &[&str]) -> String {
    loop {
        let dump = pool.dump().to_string();
        if wanted.iter().all(|text| dump.contains(text)) {
            return dump;
        }
        std::thread::yield_now();
    }
}

/// A bound task waits, in a blocking call, for another one that is bound to the same thread: for
/// ever. Both are named.
#[test]
fn a_call_that_waits_for_a_task_that_cannot_run() {
    let (pool, machines) = started(processors(2).thread_name("hung"));
    let thread = Processors::reserve_thread(&pool).unwrap();
    let to = Some(thread.id());
    let (answer, answered) = mpsc::channel();
    let way_out = answer.clone();
    pool.inject(named(17, to, move |pool| {
        pool.inject(named(18, to, move |_| answer.send(()).unwrap()));
        pool.blocking(|| answered.recv().unwrap());
    }));
    let line = "hung-2: in a blocking call (order 17)";
    dump_with(&pool, &[line, "bound; waiting for it: 1 (order 18)"]);
    // The second look knows for how long.
    let dump = dump_with(&pool, &[line, "2 processors, 2 idle"]);
    let line = dump.lines().find(|text| text.contains(line)).unwrap();
    assert!(line.contains("the same for "), "{dump}");
    way_out.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    let dump = dump_with(
        &pool,
        &["hung-2: waits for a task that is bound to it, bound"],
    );
    assert!(!dump.contains("order"), "nothing runs any more: {dump}");
    finish(&pool, machines);
}

/// All threads there may be are taken: a blocking call keeps the only processor, and waits for what
/// is in its deque.
#[test]
fn a_call_that_keeps_its_processor() {
    let config = processors(1).max_processors(1);
    let (pool, machines) = started(config.thread_limit(1).thread_name("kept"));
    let (answer, answered) = mpsc::channel();
    let way_out = answer.clone();
    pool.inject(named(5, None, move |pool| {
        for name in 6..9 {
            let answer = answer.clone();
            pool.schedule(named(name, None, move |_| {
                let _ = answer.send(());
            }));
        }
        pool.blocking(|| answered.recv().unwrap());
    }));
    let wanted = [
        "kept-0: runs (order 5), processor 0",
        "deque: 3,",
        "blocked in place 1",
    ];
    dump_with(&pool, &wanted);
    let dump = pool.dump().to_string();
    assert!(
        dump.contains("kept-0: runs (order 5), processor 0, the same for "),
        "{dump}"
    );
    way_out.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
}

/// A call is back while another task has the only processor: the dump tells it from one that is
/// still in its call.
#[test]
fn a_call_that_is_back_waits_for_a_processor() {
    let (pool, machines) = started(processors(1).thread_name("wait"));
    let (answer, answered) = mpsc::channel();
    pool.inject(named(5, None, move |pool| {
        pool.inject(named(6, None, move |pool| {
            answer.send(()).unwrap();
            let line = "back from a blocking call, waits for a processor (order 5)";
            dump_with(pool, &[line, "runs (order 6), processor 0"]);
        }));
        pool.blocking(|| answered.recv().unwrap());
    }));
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
}

/// A call comes back at once, and takes its processor from the thread that had been started to wait
/// with it. A failure: the dump says that the other one has it.
#[test]
fn b12_who_is_back_from_a_call_has_the_processor() {
    let (pool, machines) = started(processors(1).thread_name("back"));
    let (give, take) = mpsc::channel();
    pool.inject(named(3, None, move |pool| {
        pool.blocking(|| {});
        give.send(pool.dump().to_string()).unwrap();
    }));
    let dump = take.recv().unwrap();
    assert!(dump.contains("processor 0: held by back-0,"), "{dump}");
    assert!(
        dump.contains("back-0: runs (order 3), processor 0"),
        "{dump}"
    );
    finish(&pool, machines);
}

/// The thread that has found a bound task has handed its processor over.
#[test]
fn who_runs_a_bound_task_has_the_processor() {
    let (pool, machines) = started(processors(1).thread_name("bound"));
    let thread = Processors::reserve_thread(&pool).unwrap();
    let (answer, answered) = mpsc::channel::<()>();
    pool.inject(named(3, Some(thread.id()), move |_| {
        answered.recv().unwrap();
    }));
    dump_with(
        &pool,
        &[
            "bound-0: parked\n",
            "bound-1: runs (order 3), processor 0",
            "1 spare, 1 bound",
        ],
    );
    answer.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    finish(&pool, machines);
}
