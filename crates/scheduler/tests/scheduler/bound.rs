//! Processes bound to a thread, and the dump that names running calls.

use std::cell::Cell;
use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{Scripted, Test, scheduler, scripted, start};
use filch_actors::prelude::*;
use filch_scheduler::{BoundThread, Event, Pid, ProcessHandle, Scheduler};

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts its steps on the thread, tells that thread of each, yields `turns` times, and is done
/// with the thread's count.
fn counting(turns: u64, told: mpsc::Sender<ThreadId>) -> Scripted {
    let mut left = turns;
    scripted(move |_, _, out| {
        STEPS.set(STEPS.get() + 1);
        told.send(thread::current().id()).unwrap();
        if left == 0 {
            out.done(STEPS.get());
        } else {
            left -= 1;
            out.go_on();
        }
    })
}

fn there(
    scheduler: &Scheduler<Test>,
    thread: &BoundThread<Test>,
    process: Scripted,
) -> ProcessHandle<Test> {
    let submission = scheduler.submission(process, "run", 0);
    submission.bound_to(thread).submit().unwrap()
}

#[test]
fn all_steps_are_taken_on_the_thread() {
    let scheduler = scheduler(2);
    let (told, threads) = mpsc::channel();
    let bound = scheduler.reserve_thread().unwrap();
    let processes: Vec<_> = (0..4)
        .map(|_| {
            let process = counting(9, told.clone());
            there(&scheduler, &bound, process)
        })
        .collect();
    // Company, which takes its steps anywhere else.
    let (tell, others) = mpsc::channel();
    let company = scheduler.submit(counting(9, tell), "run", 0).unwrap();
    company.join().unwrap();
    let last = processes
        .into_iter()
        .map(|process| process.join().unwrap())
        .max();
    assert_eq!(last, Some(40), "one thread's count of all forty steps");
    drop(told);
    let threads: Vec<_> = threads.into_iter().collect();
    assert_eq!(threads.len(), 40);
    assert!(threads.iter().all(|thread| *thread == threads[0]));
    assert!(others.into_iter().all(|thread| thread != threads[0]));
}

#[test]
fn a_message_wakes_it_on_its_thread() {
    let scheduler = scheduler(1);
    let (tell, workers) = mpsc::channel();
    scheduler
        .submit(counting(0, tell), "run", 0)
        .unwrap()
        .join()
        .unwrap();
    let worker = workers.recv().unwrap();
    let bound = scheduler.reserve_thread().unwrap();
    let process = scripted(move |_, events, out| {
        assert_ne!(thread::current().id(), worker);
        out.idle();
        for event in events {
            if let Event::Message((_, value)) = event {
                out.done(value);
            }
        }
    });
    let process = there(&scheduler, &bound, process);
    scheduler.send(process.pid(), (0, 7)).unwrap();
    assert_eq!(process.join().unwrap(), 7);
}

#[test]
fn who_is_bound_to_a_released_thread_goes_on() {
    let scheduler = scheduler(1);
    let bound = scheduler.reserve_thread().unwrap();
    let process = scripted(|_, events, out| {
        if events.is_empty() {
            out.idle();
        } else {
            out.done(1);
        }
    });
    let process = there(&scheduler, &bound, process);
    drop(bound);
    scheduler.send(process.pid(), (0, 0)).unwrap();
    assert_eq!(process.join().unwrap(), 1);
}

#[test]
fn a_dump_names_the_process_that_runs() {
    let scheduler = scheduler(1);
    let (tell, inside) = mpsc::channel::<Pid>();
    let (go_on, gate) = mpsc::channel::<()>();
    let process = start(&scheduler, move |context, _, out| {
        tell.send(context.pid()).unwrap();
        gate.recv().unwrap();
        out.done(0);
    });
    let pid = inside.recv().unwrap();
    let dump = scheduler.dump().to_string();
    assert!(dump.contains(&format!("process {pid}")), "{dump}");
    go_on.send(()).unwrap();
    process.join().unwrap();
    let report = scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!(report.stuck, []);
}
