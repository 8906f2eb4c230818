//! The state under real threads: every event is seen by a turn, once and in order; no process runs
//! twice at a time.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use filch_process_state::{Ending, LetGo, ProcessState, Reason, State, Wake};

const PRODUCERS: usize = 3;
const WORKERS: usize = 2;
const PROCESSES: usize = 2;
const EVENTS: usize = if cfg!(miri) { 100 } else { 20_000 };

struct Process {
    state: ProcessState,
    events: Mutex<VecDeque<(usize, usize)>>,
    on_a_worker: AtomicBool,
    /// The next number expected from each producer. The worker that runs the process writes it.
    next: UnsafeCell<[usize; PRODUCERS]>,
}

// SAFETY: `next` is touched only between `start` and the edge that lets go, by the worker that
// started the process.
unsafe impl Sync for Process {}

/// Each producer wakes each process for a reason of its own; a process blocks after some of its
/// turns, yields after others, and is idle after the rest.
#[test]
fn a9_every_event_is_seen_once_and_in_order() {
    let processes: [Process; PROCESSES] = std::array::from_fn(|_| Process {
        state: ProcessState::new_ready(),
        events: Mutex::default(),
        on_a_worker: AtomicBool::new(false),
        next: UnsafeCell::default(),
    });
    let run_queue: Mutex<VecDeque<usize>> = Mutex::new((0..PROCESSES).collect());
    let completed = AtomicUsize::new(0);
    let enqueue = |process| run_queue.lock().unwrap().push_back(process);

    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let (processes, enqueue) = (&processes, &enqueue);
            // The last event is a completion: a message alone would not wake a blocked process.
            let reason = move |event| match (producer, event) {
                (0, event) if event + 1 < EVENTS => Reason::Message,
                (1, _) => Reason::Cancel,
                _ => Reason::Completion,
            };
            scope.spawn(move || {
                for event in 0..EVENTS {
                    for (index, process) in processes.iter().enumerate() {
                        process.events.lock().unwrap().push_back((producer, event));
                        match process.state.wake(reason(event)) {
                            Wake::Enqueue => enqueue(index),
                            Wake::Noted => {}
                            Wake::Refused | Wake::Dispose => {
                                panic!("{producer}'s event {event} was refused")
                            }
                        }
                    }
                }
            });
        }
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while completed.load(Ordering::Relaxed) < PROCESSES {
                    let Some(index) = run_queue.lock().unwrap().pop_front() else {
                        thread::yield_now();
                        continue;
                    };
                    match turn(&processes[index]) {
                        Some(LetGo::Enqueue) => enqueue(index),
                        Some(LetGo::Waits) => {}
                        None => {
                            completed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });

    assert!(run_queue.into_inner().unwrap().is_empty(), "enqueued twice");
    for process in processes {
        assert_eq!(process.state.state(), State::Complete);
        assert_eq!(process.next.into_inner(), [EVENTS; PRODUCERS]);
    }
}

/// Runs one turn: drains, checks, lets go; `None` once it has seen everything.
fn turn(process: &Process) -> Option<LetGo> {
    process.state.start().expect("an entry means Ready");
    assert!(
        !process.on_a_worker.swap(true, Ordering::Relaxed),
        "two workers"
    );
    let drained = std::mem::take(&mut *process.events.lock().unwrap());
    // SAFETY: this worker started the process and has not let go of it.
    let next = unsafe { &mut *process.next.get() };
    for (producer, event) in drained {
        assert_eq!(event, next[producer], "lost, repeated or out of order");
        next[producer] += 1;
    }
    let (seen, over) = (next[0], *next == [EVENTS; PRODUCERS]);
    process.on_a_worker.store(false, Ordering::Relaxed);
    if over {
        // Wake-ups for events that this turn has drained may have come after it began.
        while process.state.complete().unwrap() == Ending::Drain {
            assert!(process.events.lock().unwrap().is_empty(), "all were seen");
        }
        return None;
    }
    let let_go = match seen % 3 {
        0 => process.state.block(),
        1 => process.state.yield_now(),
        _ => process.state.idle(),
    };
    Some(let_go.expect("this worker runs it"))
}
