//! Rows A1–A4, A8–A10: entry points, steps, yields and their completions, states, messages.

use std::sync::mpsc;

use crate::common::{Command, Test, closed_once, scheduler, scripted, start, summing, waiting};
use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{Activity, CommandError, Event, InitError, ProcessError, Scheduler};

#[test]
fn a4_the_default_number_of_workers_is_the_parallelism_of_the_machine() {
    let scheduler = Scheduler::<Test>::builder().build().unwrap();
    let parallelism = std::thread::available_parallelism().unwrap().get();
    assert_eq!(scheduler.stats().workers.len(), parallelism);
}

#[test]
fn a2_a_command_may_fail_be_forgotten_or_panic_and_the_process_learns_which() {
    let scheduler = scheduler(2);
    let mut outcomes = Vec::new();
    let process = scripted(move |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Fail("no such page"));
            out.yield_command(1, Command::Forget);
            out.yield_command(2, Command::Panic);
            out.yield_command(3, Command::CompleteThenPanic(5));
        }
        for event in events {
            let Event::Completed { tag, result } = event else {
                panic!("nobody sent {event:?}")
            };
            outcomes.push((tag, result));
        }
        if outcomes.len() < 4 {
            out.wait();
            return Ok(());
        }
        outcomes.sort_by_key(|(tag, _)| *tag);
        let failure = "no such page";
        assert!(matches!(&outcomes[0].1, Err(CommandError::Failed(m)) if m == failure));
        assert!(matches!(&outcomes[1].1, Err(CommandError::Abandoned)));
        let panic = "the handler's message";
        assert!(matches!(&outcomes[2].1, Err(CommandError::Panicked(m)) if **m == *panic));
        assert!(matches!(&outcomes[3].1, Ok(5)));
        out.done(4);
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 4);
}

#[test]
fn a_command_without_a_handler_says_so() {
    let scheduler = Scheduler::<Test>::builder().workers(1).build().unwrap();
    let process = scripted(|_, mut events, out| {
        match events.pop() {
            None => {
                out.yield_command(0, Command::Echo(1));
                out.wait();
            }
            Some(Event::Completed {
                result: Err(CommandError::NoHandler),
                ..
            }) => out.done(1),
            Some(other) => panic!("{other:?}"),
        }
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
}

#[test]
fn a_message_does_not_wake_a_process_that_waits_for_a_command() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let mut steps = 0;
    let handle = start(&scheduler, move |_, events, out| {
        steps += 1;
        match steps {
            1 => {
                out.yield_command(9, Command::Give(give.clone()));
                out.wait();
            }
            _ => {
                assert!(matches!(events[0], Event::Message((0, 1))), "{events:?}");
                assert!(
                    matches!(events[1], Event::Completed { tag: 9, .. }),
                    "{events:?}"
                );
                out.done(events.len() as u64);
            }
        }
    });
    let completion = completions.recv().unwrap();
    scheduler.send(handle.pid(), (0, 1)).unwrap();
    assert_eq!((completion.pid(), completion.tag()), (handle.pid(), 9));
    completion.complete(3);
    assert_eq!(
        handle.join().unwrap(),
        2,
        "one step with both, message first"
    );
}

#[test]
fn waiting_for_nothing_is_an_error_and_not_a_hang() {
    let scheduler = scheduler(1);
    let process = scripted(|_, _, out| out.wait());
    let closed = process.closed();
    let error = scheduler.execute(process, "run", 0).unwrap_err();
    assert!(
        matches!(error, ExecuteError::Process(ProcessError::WaitsForNothing)),
        "{error}"
    );
    assert!(closed_once(&closed));
}

/// Two processes get their places and names, and one its first messages, before either runs.
#[test]
fn a_place_is_known_before_its_process_runs() {
    let scheduler = scheduler(2);
    let admit = |process, method: &'static str, name| {
        let submission = scheduler.submission(process, method, 0).name(name);
        submission.admit().map_err(|(error, _)| error).unwrap()
    };
    let (first, start_first) = admit(summing(2), "run", "first");
    let (second, start_second) = admit(waiting(), "fail", "second");
    assert_eq!(scheduler.whereis("second"), Some(second.pid()));
    for value in [40, 2] {
        scheduler.send(first.pid(), (0, value)).unwrap();
    }
    let still = scheduler.wait_for_standstill().unwrap().processes;
    let starting = |one: &filch_scheduler::ProcessInfo| one.activity == Activity::Starting;
    assert!(still.len() == 2 && still.iter().all(starting), "{still:?}");

    assert_eq!(first.submit(start_first).unwrap().join().unwrap(), 42);
    // Its `init` refuses, as it would at any submission.
    let refused = second.submit(start_second).unwrap_err();
    assert!(matches!(refused, InitError::Failed(_)));
    assert_eq!((scheduler.whereis("second"), scheduler.live()), (None, 0));

    let (given_up, start) = admit(waiting(), "run", "third");
    drop(given_up);
    drop(start);
    assert_eq!((scheduler.whereis("third"), scheduler.live()), (None, 0));
}
