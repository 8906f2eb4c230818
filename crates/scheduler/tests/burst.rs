//! The memory that a burst of messages leaves, counted. One test, as the counter is the program's.

mod counting;

use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock};

use filch_scheduler::{Event, Events, Pid, Process, Scheduler, from_fn};

use counting::{BYTES, Words};

fn in_use() -> i64 {
    BYTES.load(Ordering::Relaxed)
}

/// Makes a process that reads its messages, once the gate is open.
fn reader(gate: &Arc<RwLock<()>>) -> impl Process<Words> + 'static {
    let gate = Arc::clone(gate);
    from_fn(move |_, events: Events<'_, Words>, out| {
        drop(gate.read());
        for event in events {
            if let Event::Cancel(_) = event {
                out.done(0);
            }
        }
        Ok(())
    })
}

const MILLION: u64 = 1_000_000;
const PROCESSES: usize = 200;

#[test]
fn a_process_that_has_caught_up_keeps_no_block() {
    let scheduler = Scheduler::<Words>::builder().workers(2).build().unwrap();
    let gate = Arc::new(RwLock::new(()));
    let pids: Vec<_> = (0..PROCESSES)
        .map(|_| scheduler.submit(reader(&gate), "run", ()))
        .map(|process| process.unwrap().pid())
        .collect();
    // Sends each a number of messages, which wait for the last one, and waits until all are read.
    let burst = |pids: &[Pid], messages: u64| {
        let closed = gate.write();
        for number in 0..messages {
            for &pid in pids {
                scheduler.send(pid, number).unwrap();
            }
        }
        drop(closed);
        drop(scheduler.wait_for_standstill().unwrap());
    };
    burst(&pids, 1);
    let before = in_use();
    burst(&pids[..1], MILLION);
    burst(&pids[1..2], MILLION);
    let of_workers = in_use() - before;
    println!("{of_workers} bytes after two times a million messages");
    // Up to two inboxes of a step of events each, and some blocks of the run queues.
    assert!(of_workers < 2 * 1024 * 40 + 20_000);

    // A worker that has had no long step so far gets its inbox for such steps now.
    let inbox = 1024 * size_of::<Event<Words>>() as i64;
    let to_come = (2 - of_workers / inbox) * inbox;
    let before = in_use();
    burst(&pids, MILLION / PROCESSES as u64);
    let grown = in_use() - before;
    println!("{grown} bytes more after {PROCESSES} bursts at a time; inboxes: {to_come} at most");
    // No process keeps the block of one event that it had before, nor a larger one.
    assert!(grown <= to_come, "{grown} bytes");
}
