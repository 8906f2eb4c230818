//! The memory of an idle process, counted. One test, as the counter is the program's.

mod counting;
mod idler;

use std::sync::atomic::Ordering;
use std::time::Duration;

use filch_scheduler::Scheduler;

use counting::{BYTES, Words};
use idler::idler;

/// So many that they fill the slots of a table that grows by doubling.
const PROCESSES: usize = (1 << 14) - 1;

/// Waits, now and then, until nothing runs: so the run queues stay short, and add nothing to the
/// figures.
fn rest(scheduler: &Scheduler<Words>, number: usize) {
    if number.is_multiple_of(250) || number + 1 == PROCESSES {
        let standstill = scheduler.wait_for_standstill().unwrap();
        assert!(standstill.processes.len() > number);
    }
}

/// Returns the growth since `before`, by process.
fn each(before: i64) -> f64 {
    (BYTES.load(Ordering::Relaxed) - before) as f64 / PROCESSES as f64
}

#[test]
fn an_idle_process_is_240_bytes() {
    let scheduler = Scheduler::<Words>::builder().workers(2).build().unwrap();
    let mut pids = Vec::with_capacity(PROCESSES);
    let before = BYTES.load(Ordering::Relaxed);
    for number in 0..PROCESSES {
        pids.push(scheduler.submit(idler(), "run", ()).unwrap().pid());
        rest(&scheduler, number);
    }
    // A block or two of the run queues is in it.
    let slots = each(before);
    assert!(
        (168.0..170.0).contains(&slots),
        "{slots} bytes in the table"
    );

    for (number, &pid) in pids.iter().enumerate() {
        scheduler.send(pid, 7).unwrap();
        rest(&scheduler, number);
    }
    let idle = each(before);
    assert!(
        idle < 242.0,
        "{idle} bytes with a mailbox that had a message"
    );

    let report = scheduler.shutdown(Duration::from_secs(30)).unwrap();
    assert!(report.stuck.is_empty());
    drop(pids);
    assert!(each(before) < 1.0, "{} bytes are left", each(before));
}
