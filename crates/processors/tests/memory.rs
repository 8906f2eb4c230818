//! A task that only waits costs its own words in a queue (row B14): nothing is allocated for each.
//! One test, as the counter is the process's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_processors::{Config, Processors, Runner};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // ORDERING: Relaxed, here and below: counters.
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as ours.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts the allocations of `work`, and their bytes.
fn allocated(work: impl FnOnce()) -> (usize, usize) {
    let now = || {
        (
            ALLOCATIONS.load(Ordering::Relaxed),
            BYTES.load(Ordering::Relaxed),
        )
    };
    let before = now();
    work();
    let after = now();
    (after.0 - before.0, after.1 - before.1)
}

const TASKS: usize = 100_000;

/// Six words, as many as the design document gives a goroutine that has not run yet.
type Task = [usize; 6];

/// The task with a 0 schedules all the others.
struct Spawner {
    sum: AtomicUsize,
}

impl Runner<Task> for Spawner {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        match task {
            [0, ..] => (0..TASKS).for_each(|_| pool.schedule([1; 6])),
            words => {
                self.sum
                    .fetch_add(words.iter().sum::<usize>(), Ordering::Relaxed);
            }
        }
    }
}

#[test]
fn b14_a_waiting_task_costs_its_own_words() {
    let size = size_of::<Task>();
    let pool = Processors::new(Config::default().processors(1)).unwrap();
    let (times, bytes) = allocated(|| (0..TASKS).for_each(|_| pool.inject([1; 6])));
    assert!(times <= TASKS / 16, "{times} allocations for {TASKS} tasks");
    assert!(
        bytes <= TASKS * (size + 32),
        "{bytes} bytes for {TASKS} tasks"
    );
    let runner = Arc::new(Spawner {
        sum: AtomicUsize::new(0),
    });
    let machines = Processors::start(&pool, Arc::clone(&runner)).unwrap();
    pool.wait_quiescent(None).unwrap();
    // In a processor's own deque, which grows by doubling.
    for _ in 0..2 {
        let (times, bytes) = allocated(|| {
            pool.inject([0; 6]);
            pool.wait_quiescent(None).unwrap();
        });
        assert!(times <= 100, "{times} allocations for {TASKS} tasks");
        assert!(bytes <= TASKS * 4 * size, "{bytes} bytes for {TASKS} tasks");
    }
    assert_eq!(runner.sum.load(Ordering::Relaxed), 3 * 6 * TASKS);
    pool.stop();
    machines.join();
}
