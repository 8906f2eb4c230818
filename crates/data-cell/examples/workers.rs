//! Workers that share three pieces of data, each with tasks that need some of them.
//!
//! A worker tries its tasks in turn, and skips those whose data is held; it never waits for data.
//! The owner of the log takes it away halfway; then the tasks that need it end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use filch_data_cell::{Access, DataCell, LockError, LockSet, LockSetError, Locked, Mask};

/// The data that the workers share.
#[derive(Clone)]
struct Shared {
    prices: Arc<DataCell<Vec<u64>>>,
    total: Arc<DataCell<u64>>,
    log: Arc<DataCell<Vec<String>>>,
}

/// A piece of work on data, to be run several times.
struct Task {
    needs: LockSet,
    run: Box<dyn Fn() + Send>,
    runs_left: usize,
}

impl Task {
    /// Sums the prices up.
    fn sum(shared: &Shared) -> Result<Self, LockSetError> {
        let Shared { prices, total, .. } = shared.clone();
        Ok(Self {
            needs: LockSet::new([
                (prices.clone() as _, Access::Read),
                (total.clone() as _, Access::Write),
            ])?,
            run: Box::new(move || {
                // SAFETY: a worker runs this while it holds `needs`.
                let sum = unsafe { prices.read_ptr(|prices| (*prices).iter().sum()) };
                // SAFETY: as above.
                unsafe { total.write_ptr(|total| *total = sum) };
            }),
            runs_left: 1_000,
        })
    }

    /// Raises a price, and notes that.
    fn raise(shared: &Shared) -> Result<Self, LockSetError> {
        let Shared { prices, log, .. } = shared.clone();
        Ok(Self {
            needs: LockSet::new([
                (log.clone() as _, Access::Write),
                (prices.clone() as _, Access::Write),
            ])?,
            run: Box::new(move || {
                // SAFETY: a worker runs this while it holds `needs`.
                let price = unsafe {
                    prices.write_ptr(|prices| {
                        let prices = &mut *prices;
                        prices[0] += 1;
                        prices[0]
                    })
                };
                // SAFETY: as above.
                unsafe { log.write_ptr(|log| (&mut *log).push(format!("now {price}"))) };
            }),
            runs_left: 1_000,
        })
    }

    /// Runs the task with its data, which is poisoned if the task panics.
    fn run(&self, locked: Locked<'_>) {
        match catch_unwind(AssertUnwindSafe(&self.run)) {
            Ok(()) => drop(locked),
            Err(_) => locked.poison(),
        }
    }
}

/// Runs each task until its runs are done or its data is gone. Returns how often data was held.
fn work(mut tasks: Vec<Task>) -> usize {
    let mut held = 0;
    while !tasks.is_empty() {
        tasks.retain_mut(|task| {
            match task.needs.try_lock(Mask::NONE) {
                Ok(locked) => {
                    task.run(locked);
                    task.runs_left -= 1;
                }
                Err(refused) if refused.why == LockError::Held => {
                    held += 1;
                    thread::yield_now();
                }
                Err(_) => return false,
            }
            task.runs_left > 0
        });
    }
    held
}

fn main() -> Result<(), LockSetError> {
    let shared = Shared {
        prices: Arc::new(DataCell::new(vec![3, 4])),
        total: Arc::default(),
        log: Arc::default(),
    };
    let mut workers = Vec::new();
    for _ in 0..3 {
        let tasks = vec![Task::sum(&shared)?, Task::raise(&shared)?];
        workers.push(thread::spawn(move || work(tasks)));
    }

    // The owner of the log waits for some lines, and takes them.
    let log = loop {
        let is_long = shared.log.try_read(|log| log.len() >= 500);
        if is_long == Ok(true)
            && let Ok(log) = shared.log.try_end()
        {
            break log;
        }
        thread::yield_now();
    };
    let held: usize = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();

    let price = shared.prices.try_read(|prices| prices[0]);
    assert_eq!(price, Ok(3 + log.len() as u64), "each rise is in the log");
    println!("{} prices raised; data was held {held} times", log.len());
    Ok(())
}
