//! Rows A1–A4, A8–A10: entry points, steps, yields and their completions, states, messages.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Command, Test, closed_once, scheduler, scripted, start, summing, waiting};
use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{Activity, CommandError, Event, InitError, ProcessError, Scheduler};

#[test]
fn a_process_that_is_done_at_once() {
    let scheduler = scheduler(2);
    let process = scripted(|_, events, out| {
        assert!(
            events.is_empty(),
            "the first step of a process nobody sent anything to"
        );
        out.done(7);
    });
    let closed = process.closed();
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 7);
    assert!(closed_once(&closed));
    assert_eq!(scheduler.live(), 0);
}

#[test]
fn the_default_number_of_workers_is_the_parallelism_of_the_machine() {
    let scheduler = Scheduler::<Test>::builder().build().unwrap();
    let parallelism = std::thread::available_parallelism().unwrap().get();
    assert_eq!(scheduler.stats().workers.len(), parallelism);
}

#[test]
fn completions_carry_the_tag_of_their_command() {
    let scheduler = scheduler(2);
    let process = {
        let mut squares = Vec::new();
        scripted(move |_, events, out| {
            if events.is_empty() {
                for tag in 0..20 {
                    let command = if tag % 2 == 0 {
                        Command::Echo(tag * tag)
                    } else {
                        Command::EchoLater(tag * tag)
                    };
                    out.yield_command(tag, command);
                }
            }
            for event in events {
                let Event::Completed { tag, result } = event else {
                    panic!("nobody sent {event:?}")
                };
                assert_eq!(result.unwrap(), tag * tag);
                squares.push(tag);
            }
            if squares.len() < 20 {
                out.wait();
            } else {
                squares.sort_unstable();
                assert!(
                    squares.iter().copied().eq(0..20),
                    "each command completed once"
                );
                out.done(20);
            }
        })
    };
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 20);
    let total = scheduler.stats().total();
    assert_eq!((total.commands, total.completions), (20, 20));
}

#[test]
fn a_command_may_fail_be_forgotten_or_panic_and_the_process_learns_which() {
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
fn an_idle_process_is_woken_by_a_message_and_by_a_completion() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let (mut messages, mut replies) = (0, 0);
    let handle = start(&scheduler, move |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
        }
        for event in events {
            match event {
                Event::Message((_, value)) => messages += value,
                Event::Completed { result, .. } => {
                    replies += result.map_err(|error| error.to_string())?;
                }
                _ => unreachable!(),
            }
        }
        if messages > 0 && replies > 0 {
            out.done(messages + replies);
        } else {
            out.idle();
        }
        Ok(())
    });
    completions.recv().unwrap().complete(30);
    scheduler.send(handle.pid(), (0, 12)).unwrap();
    assert_eq!(handle.join().unwrap(), 42);
}

#[test]
fn a_process_that_goes_on_is_stepped_again_after_the_others() {
    let scheduler = scheduler(1);
    let mut rounds = 0;
    let busy = scripted(move |_, events, out| {
        rounds += 1;
        if events
            .iter()
            .any(|event| matches!(event, Event::Message(_)))
        {
            out.done(rounds);
        } else {
            out.go_on();
        }
    });
    let handle = scheduler.submit(busy, "run", 0).unwrap();
    // On one worker this only ever ends if the busy one gives way.
    let pid = handle.pid();
    let other = scripted(move |context, _, out| {
        context
            .send(pid, (0, 0))
            .map_err(|error| error.to_string())?;
        out.done(1);
        Ok(())
    });
    assert_eq!(scheduler.execute(other, "run", 0).unwrap(), 1);
    assert!(handle.join().unwrap() > 0);
}

#[test]
fn a_process_sends_to_itself_and_submits_others() {
    let scheduler = scheduler(2);
    let mut steps = 0;
    let process = scripted(move |context, events, out| {
        steps += 1;
        if steps == 1 {
            let me = context.pid();
            context.send(me, (0, 1)).unwrap();
            let child = scripted(move |context, _, out| {
                context.send(me, (1, 2)).unwrap();
                out.done(0);
                Ok(())
            });
            drop(context.submit(child, "run", 0).unwrap());
        }
        for event in events {
            let Event::Message((from, _)) = event else {
                panic!("{event:?}")
            };
            if from == 1 {
                out.done(1);
            }
        }
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
}

#[test]
fn messages_of_one_sender_arrive_in_order() {
    const SENDERS: usize = 4;
    const EACH: u64 = 5_000;
    let scheduler = scheduler(2);
    let mut next = [0; SENDERS];
    let handle = start(&scheduler, move |_, events, out| {
        for event in events {
            let Event::Message((sender, value)) = event else {
                panic!("{event:?}")
            };
            assert_eq!(value, next[sender], "out of order, lost or doubled");
            next[sender] += 1;
        }
        if next == [EACH; SENDERS] {
            out.done(1);
        } else {
            out.idle();
        }
    });
    let pid = handle.pid();
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let scheduler = scheduler.handle();
            scope.spawn(move || {
                for value in 0..EACH {
                    scheduler.send(pid, (sender, value)).unwrap();
                }
            });
        }
    });
    assert_eq!(handle.join().unwrap(), 1);
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

#[test]
fn thousands_of_commands_at_once() {
    let scheduler = scheduler(2);
    let mut left = 10_000;
    let process = scripted(move |_, events, out| {
        if events.is_empty() {
            (0..left).for_each(|tag| out.yield_command(tag, Command::Echo(tag)));
        }
        left -= events.len() as u64;
        if left == 0 {
            out.done(1);
        } else {
            out.wait();
        }
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
}

#[test]
fn a_completion_that_comes_after_the_end_harms_nobody() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let handle = start(&scheduler, move |_, _, out| {
        out.yield_command(0, Command::Give(give.clone()));
        out.done(1);
    });
    let old = handle.pid();
    assert_eq!(handle.join().unwrap(), 1);
    let completion = completions.recv().unwrap();
    // Its slot cannot be used again while the completion is held; afterwards it is, with another
    // name.
    let before = scheduler.submit(waiting(), "run", 0).unwrap();
    completion.complete(1);
    let after = scheduler.submit(summing(1), "run", 0).unwrap();
    assert_ne!(before.pid(), old);
    assert_ne!(after.pid(), old);
    assert!(scheduler.send(old, (0, 0)).is_err());
    scheduler.send(after.pid(), (0, 5)).unwrap();
    assert_eq!(after.join().unwrap(), 5);
    let report = scheduler.shutdown(Duration::from_secs(10)).unwrap();
    assert_eq!((report.cancelled, report.aborted), (1, 0));
    assert_eq!(before.join().unwrap(), 0);
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
