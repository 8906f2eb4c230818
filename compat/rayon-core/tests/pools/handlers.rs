//! The calls of the handlers for start and exit, and their threads.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use rayon_core::{ThreadPoolBuilder, current_thread_index};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Started,
    Ran,
    Exited,
}

/// Each thread starts, runs its jobs, and exits, in this order, with the same index throughout.
#[test]
fn a_thread_starts_then_runs_then_exits() {
    const THREADS: usize = 4;
    let log: Arc<[Mutex<Vec<Event>>; THREADS]> = Arc::default();
    let note = |event| {
        let log = Arc::clone(&log);
        move |index: usize| {
            assert_eq!(current_thread_index(), Some(index));
            log[index].lock().unwrap().push(event);
        }
    };
    let (started, ran, exited) = (note(Event::Started), note(Event::Ran), note(Event::Exited));
    let mut threads = Vec::new();
    let pool = ThreadPoolBuilder::new()
        .num_threads(THREADS)
        .start_handler(started)
        .exit_handler(exited)
        .spawn_handler(|builder| {
            threads.push(thread::spawn(|| builder.run()));
            Ok(())
        })
        .build()
        .unwrap();
    pool.broadcast(|context| ran(context.index()));
    drop(pool);
    for thread in threads {
        thread.join().unwrap();
    }
    for events in log.iter() {
        let events = events.lock().unwrap();
        assert_eq!(*events, [Event::Started, Event::Ran, Event::Exited]);
    }
}

/// They are not called for a thread that the pool does not start.
#[test]
fn the_calling_thread_has_no_handlers() {
    let started = Arc::new(Mutex::new(Vec::new()));
    let all_started = Arc::new(Barrier::new(3));
    let (log, barrier) = (Arc::clone(&started), Arc::clone(&all_started));
    // A thread of its own, which belongs to the pool from then on.
    thread::spawn(move || {
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .use_current_thread()
            .start_handler(move |index| {
                log.lock().unwrap().push(index);
                barrier.wait();
            })
            .build()
            .unwrap();
        assert_eq!(pool.current_thread_index(), Some(0));
        all_started.wait();
        drop(pool);
    })
    .join()
    .unwrap();
    let mut started = started.lock().unwrap().clone();
    started.sort_unstable();
    assert_eq!(started, [1, 2]);
}
