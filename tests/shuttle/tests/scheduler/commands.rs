//! Commands, and completions that come from other threads, early, late, or never.

use std::time::Duration;

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use shuttle_tests::{explore, explore_each};

use super::{Closed, FOR_EVER, Numbers, Scripted, scheduler, scripted};
use filch_scheduler::{Completion, Event, JoinError, ProcessError};

/// Yields the commands 1 and 2 at once and is done with the sum of the replies.
fn asking(closed: &Closed) -> Scripted {
    let (mut asked, mut replies, mut sum) = (false, 0, 0);
    scripted(closed, move |_, events, out| {
        if !asked {
            asked = true;
            out.yield_command(1, 1);
            out.yield_command(2, 2);
        }
        for event in events {
            if let Event::Completed { tag, result } = event {
                let reply = result.unwrap();
                assert_eq!(reply as u64, tag, "another command's reply");
                replies += 1;
                sum += reply;
            }
        }
        if replies == 2 {
            out.done(sum);
        } else {
            out.wait();
        }
    })
}

/// Both completions come from separate threads, while the step that yielded them is still letting
/// go of the process. A failure: a deadlock in `join`, as a completion did not wake the process.
#[test]
fn completions_from_other_threads() {
    explore_each("a completion wakes its process", 1_500, [1, 2], |workers| {
        let scheduler = scheduler(workers, |number, completion: Completion<Numbers>| {
            thread::spawn(move || completion.complete(number));
        });
        let closed = Closed::new();
        let process = scheduler.submit(asking(&closed), "run", ()).unwrap();
        assert_eq!(process.join().unwrap(), 3);
        assert_eq!(closed.count(), 1);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// One completion is dropped by another thread, the other is given: the process is told of both.
#[test]
fn an_abandoned_command_is_heard_of() {
    explore("a dropped completion wakes its process", 1_500, || {
        let scheduler = scheduler(2, |number, completion: Completion<Numbers>| {
            thread::spawn(move || {
                if number == 1 {
                    drop(completion);
                } else {
                    completion.complete(number);
                }
            });
        });
        let closed = Closed::new();
        let (mut asked, mut heard) = (false, [false; 2]);
        let process = scripted(&closed, move |_, events, out| {
            if !asked {
                asked = true;
                out.yield_command(1, 1);
                out.yield_command(2, 2);
            }
            for event in events {
                if let Event::Completed { tag, result } = event {
                    assert_eq!(result.is_ok(), tag == 2);
                    heard[tag as usize - 1] = true;
                }
            }
            if heard == [true; 2] {
                out.done(0);
            } else {
                out.wait();
            }
        });
        let process = scheduler.submit(process, "run", ()).unwrap();
        assert_eq!(process.join().unwrap(), 0);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// The scheduler shuts down while a command is out; its completion comes before, during or after,
/// on another thread. The process ends by its own choice, or by the shutdown, once. A failure: a
/// completion reaches the slot's next process, or a deadlock in `shutdown`.
#[test]
fn a_completion_races_with_the_shutdown() {
    explore("a completion against the shutdown", 2_000, || {
        let held: Arc<Mutex<Option<Completion<Numbers>>>> = Arc::new(Mutex::new(None));
        let scheduler = scheduler(2, {
            let held = Arc::clone(&held);
            move |_, completion| *held.lock().unwrap() = Some(completion)
        });
        let closed = Closed::new();
        let process = scheduler.submit(one_question(&closed), "run", ()).unwrap();
        let late = thread::spawn(move || {
            // If it is not there yet, the command stays without an answer.
            if let Some(completion) = held.lock().unwrap().take() {
                completion.complete(5);
            }
            held
        });
        // A limit, so that it does not wait for an answer that may never come. It is over at once:
        // a worker that is inside a step is then reported as stuck, and closes the process later.
        let _ = scheduler.shutdown(Duration::from_secs(1)).unwrap();
        match process.join() {
            Ok(5) | Err(JoinError::Process(ProcessError::ShutDown)) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(closed.count(), 1);
        drop(late.join().unwrap());
    });
}

/// Asks once, ignores everything but the answer, and is done with that.
fn one_question(closed: &Closed) -> Scripted {
    let mut asked = false;
    scripted(closed, move |_, events, out| {
        if !asked {
            asked = true;
            out.yield_command(1, 1);
        }
        for event in events {
            if let Event::Completed { result, .. } = event {
                return out.done(result.unwrap());
            }
        }
        out.wait();
    })
}
