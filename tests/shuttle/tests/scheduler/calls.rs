//! Threads that call a process, and may run its step themselves, against workers, each other and
//! the shutdown.

use filch_actors::CallError;
use filch_actors::prelude::*;
use filch_scheduler::{Event, Handle, Pid};
use shuttle::thread;
use shuttle_tests::{explore, explore_each};

use super::{Closed, FOR_EVER, Note, Numbers, Scripted, prompt_scheduler, scripted};

/// Answers each call with its number plus `more`, until it is cancelled. First it takes so many
/// `steps` without a message.
fn adding(closed: &Closed, more: usize, steps: usize) -> Scripted {
    let mut left = steps;
    scripted(closed, move |_, events, out| {
        for event in events {
            match event {
                Event::Message(Note::Ask(number, caller)) => out.answer(caller, number + more),
                _ => return out.done(0),
            }
        }
        if left > 0 {
            left -= 1;
            out.go_on();
        }
    })
}

fn ask(handle: &Handle<Numbers>, to: Pid, number: usize) -> Result<usize, CallError<Numbers>> {
    handle.call(to, |caller| Note::Ask(number, caller))
}

/// Two threads call one process twice each. One finds it idle, and runs the step or wakes a worker;
/// the other comes before, meanwhile, or while the first has the process. A failure: a caller gets
/// the other's answer; or a deadlock: nobody runs the process, or wakes the caller.
#[test]
fn two_callers() {
    explore_each("each caller gets its answers", 1_500, [1, 2], |workers| {
        let (scheduler, closed) = (prompt_scheduler(workers), Closed::new());
        let pid = scheduler
            .submit(adding(&closed, 5, 0), "run", ())
            .unwrap()
            .pid();
        let caller = |first: usize| {
            let handle = scheduler.handle();
            thread::spawn(move || {
                for number in [first, first + 1] {
                    assert_eq!(ask(&handle, pid, number).unwrap(), number + 5);
                }
            })
        };
        let callers = [caller(10), caller(20)];
        callers
            .into_iter()
            .for_each(|caller| caller.join().unwrap());
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(closed.count(), 1);
    });
}

/// The process passes its caller on to another one, which a worker may be running, and goes on. A
/// failure is a deadlock: the caller, which has run the first of these steps, is not woken by the
/// answer, or nobody runs the work that it has left.
#[test]
fn the_answer_comes_from_elsewhere() {
    explore("whoever answers wakes the caller", 1_500, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let second = adding(&closed, 3, 4);
        let second = scheduler.submit(second, "run", ()).unwrap().pid();
        let first = scripted(&closed, move |context, events, out| {
            for event in events {
                match event {
                    Event::Message(note) => {
                        context.send(second, note).unwrap();
                        out.go_on();
                    }
                    _ => out.done(0),
                }
            }
        });
        let first = scheduler.submit(first, "run", ()).unwrap().pid();
        assert_eq!(ask(&scheduler, first, 4).unwrap(), 7);
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(closed.count(), 2);
    });
}

/// A thread calls while the scheduler shuts down. A failure is a deadlock: the call is neither
/// answered nor given up.
#[test]
fn a_call_races_with_the_shutdown() {
    explore("a call ends with its process", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(1), Closed::new());
        let pid = scheduler
            .submit(adding(&closed, 1, 0), "run", ())
            .unwrap()
            .pid();
        let caller = thread::spawn({
            let handle = scheduler.handle();
            move || match ask(&handle, pid, 1) {
                Ok(answer) => assert_eq!(answer, 2),
                Err(CallError::Abandoned | CallError::Send(_)) => {}
                Err(error) => panic!("{error}"),
            }
        });
        assert!(scheduler.shutdown(FOR_EVER).unwrap().is_clean());
        caller.join().unwrap();
        assert_eq!(closed.count(), 1);
    });
}
