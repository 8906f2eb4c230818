//! The memory that ended processes keep, counted. One test, as the counter is the program's.

#[path = "../../scheduler/tests/counting/mod.rs"]
mod counting;

use std::sync::atomic::Ordering;

use filch_scheduler::{Event, Events, Process, Scheduler, from_fn};

use counting::{BYTES, Words};

/// Makes a process that takes its messages, and ends with the last of them.
fn reader(last: u64) -> impl Process<Words> + 'static {
    from_fn(move |_, events: Events<'_, Words>, out| {
        for event in events {
            if let Event::Message(number) = event
                && number == last
            {
                out.done(number);
            }
        }
        Ok(())
    })
}

const PROCESSES: usize = 30_000;

/// The memory that two workers and the table's last page may take besides; and the two lanes of the
/// global queue, which keep the blocks that they once needed: more on a busy machine, where the
/// workers come late. Half of one queue block for each process.
const FIXED: i64 = 1024 * 1024;

#[test]
fn an_ended_process_keeps_its_slot_alone() {
    let scheduler = Scheduler::<Words>::builder().workers(2).build().unwrap();
    let before = BYTES.load(Ordering::Relaxed);
    // Several times, so that slots and what they keep are used again.
    for messages in [1, 10, 40, 40, 2] {
        let submit = || scheduler.submit(reader(messages), "run", ()).unwrap();
        let processes: Vec<_> = (0..PROCESSES).map(|_| submit()).collect();
        // Round by round, so that the processes read while others are sent to.
        for number in 1..=messages {
            for process in &processes {
                scheduler.send(process.pid(), number).unwrap();
            }
        }
        let handles = (size_of_val(&processes[0]) * processes.capacity()) as i64;
        drop(scheduler.wait_for_standstill().unwrap());
        let held = BYTES.load(Ordering::Relaxed) - before - handles;
        drop(processes);
        let left = BYTES.load(Ordering::Relaxed) - before;
        println!(
            "{messages} messages: {left} bytes stay, {} a slot; {held} while there were handles",
            left / PROCESSES as i64,
        );
        for bytes in [held, left] {
            assert!(bytes <= 192 * PROCESSES as i64 + FIXED, "{bytes} bytes");
        }
    }
}
