//! A toy scheduler: two workers, one run queue, and a ring of processes that pass a token on.
//!
//! The lesson: push the event, *then* wake; enqueue when told to; start, *then* drain. Then no
//! wake-up is lost and no process runs on two workers, and no lock is held while a state changes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use filch_process_state::{LetGo, ProcessState, Reason, Wake};

const PROCESSES: usize = 5;
const HOPS: u32 = 10_000;
const WORKERS: usize = 2;

/// A process: its state, and its messages, each the number of hops that remain.
struct Process {
    state: ProcessState,
    messages: Mutex<VecDeque<u32>>,
}

struct Scheduler {
    processes: Vec<Process>,
    run_queue: Mutex<VecDeque<usize>>,
    finished: AtomicBool,
}

impl Scheduler {
    fn new() -> Self {
        let process = || Process {
            // Ready means: it is in the run queue, or about to be put there.
            state: ProcessState::new_ready(),
            messages: Mutex::default(),
        };
        Self {
            processes: std::iter::repeat_with(process).take(PROCESSES).collect(),
            run_queue: Mutex::new((0..PROCESSES).collect()),
            finished: AtomicBool::new(false),
        }
    }

    fn enqueue(&self, index: usize) {
        self.run_queue.lock().unwrap().push_back(index);
    }

    fn send(&self, to: usize, message: u32) {
        let process = &self.processes[to];
        // First the event, then the wake-up: the turn that consumes the flag sees the event.
        process.messages.lock().unwrap().push_back(message);
        match process.state.wake(Reason::Message) {
            Wake::Enqueue => self.enqueue(to),
            Wake::Noted => {}
            Wake::Refused | Wake::Dispose => {
                panic!("no process of this ring ends before the token does")
            }
        }
    }

    /// Runs one turn of a process that was taken out of the run queue.
    fn turn(&self, index: usize) {
        let process = &self.processes[index];
        process.state.start().expect("a queue entry means Ready");
        // First start, then drain: an event after the drain leaves its flag in the word.
        let drained = std::mem::take(&mut *process.messages.lock().unwrap());
        for hops_left in drained {
            match hops_left.checked_sub(1) {
                Some(hops_left) => self.send((index + 1) % PROCESSES, hops_left),
                // ORDERING: Relaxed: the end is all that it tells; the threads are joined for the
                // rest.
                None => self.finished.store(true, Ordering::Relaxed),
            }
        }
        match process.state.idle().expect("this worker started it") {
            // A message came during the turn. Its sender was told `Noted`, so the entry is ours.
            LetGo::Enqueue => self.enqueue(index),
            // From here on another worker may run it: do not touch it any more.
            LetGo::Waits => {}
        }
    }

    fn work(&self) -> u32 {
        let mut turns = 0;
        // ORDERING: Relaxed: see `turn`.
        while !self.finished.load(Ordering::Relaxed) {
            let next = self.run_queue.lock().unwrap().pop_front();
            match next {
                Some(index) => {
                    self.turn(index);
                    turns += 1;
                }
                // A real worker would sleep here: see the example `worker_loop` of filch-parker.
                None => thread::yield_now(),
            }
        }
        turns
    }
}

fn main() {
    let scheduler = Arc::new(Scheduler::new());
    scheduler.send(0, HOPS);
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let scheduler = Arc::clone(&scheduler);
            thread::spawn(move || scheduler.work())
        })
        .collect();
    let turns: u32 = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    // One message is under way at a time, so each of them takes a turn.
    assert!(turns > HOPS, "{turns} turns cannot carry {HOPS} hops");
    let left = |process: &Process| process.messages.lock().unwrap().len();
    assert_eq!(scheduler.processes.iter().map(left).sum::<usize>(), 0);
    println!("{HOPS} hops around {PROCESSES} processes in {turns} turns");
}
