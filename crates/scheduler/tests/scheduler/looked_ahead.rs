//! Events that a worker has taken out of the queue before a step could have them: those that keep
//! their place, those that do not, and those that the process has cancelled by then.

use std::sync::mpsc;

use crate::backlog::{MANY, PATIENCE, gated, scheduler, submit_with};
use crate::common::{Command, Test, scripted, start, summing};
use filch_scheduler::{Event, Scheduler};

/// An upgrade makes the worker move all events at once: the new version gets the cancel in its
/// place.
#[test]
fn a_cancel_stands_behind_it_where_a_worker_has_looked_ahead() {
    let scheduler = scheduler(1);
    let (give, take) = mpsc::channel::<Scheduler<Test>>();
    let mut messages = 0;
    let mut version = Some(scripted(move |_, events, out| {
        for event in events {
            match event {
                Event::Message(_) => messages += 1,
                Event::Cancel(_) => out.done(messages),
                event => panic!("{event:?}"),
            }
        }
    }));
    let process = start(&scheduler, move |context, _, _| {
        for number in 0..MANY {
            context.send(context.pid(), (0, number)).unwrap();
        }
        // From inside: it cancels, and does not wait.
        take.recv().unwrap().shutdown(PATIENCE).unwrap_err();
        let version = Box::new(version.take().unwrap());
        let handle = context.handle();
        handle.upgrade(context.pid(), version, "run", 0).unwrap();
    });
    give.send(scheduler).unwrap();
    assert_eq!(process.join().unwrap(), MANY);
}

/// It waits for a command that is never done, with messages before the cancel: that ends the wait
/// at once, and the messages come after it.
#[test]
fn a_cancel_behind_it_ends_a_wait_for_commands() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let mut seen = Vec::new();
    let (process, inside, go_on) = gated(move |_, events, out| {
        if seen.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
        }
        for event in events {
            match event {
                Event::Message((_, number)) => seen.push(number),
                Event::Cancel(_) => {
                    assert!(seen.len() <= 3, "{seen:?}");
                    seen.push(MANY);
                }
                event => panic!("{event:?}"),
            }
        }
        if seen.len() == 101 {
            seen.retain(|&number| number != MANY);
            assert!(seen.iter().copied().eq(0..100), "{seen:?}");
            out.done(7);
        }
    });
    let process = submit_with(&scheduler, process, &inside, 100);
    go_on.send(()).unwrap();
    let completion = completions.recv().unwrap();
    scheduler.wait_for_standstill().unwrap();
    scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!(process.join().unwrap(), 7);
    drop(completion);
}

/// Ends of others stood behind the events of its step, and a worker that looked ahead for an
/// upgrade has found them. The first step of the new version cancels their watches.
#[test]
fn what_was_cut_in_a_step_is_in_no_later_one() {
    let scheduler = scheduler(1);
    let ended = scheduler.submit(summing(0), "run", 0).unwrap();
    let ended = (ended.pid(), ended.join().unwrap()).0;
    let (process, inside, go_on) = gated(|_, events, _| panic!("a step with {events:?}"));
    let process = scheduler
        .submission(process, "run", 0)
        .trap_exits()
        .submit()
        .unwrap();
    inside.recv().unwrap();
    scheduler.send(process.pid(), (0, 0)).unwrap();
    let monitor = scheduler.monitor(process.pid(), ended);
    let link = scheduler.link(process.pid(), ended);
    scheduler.send(process.pid(), (0, 1)).unwrap();
    let mut seen = Vec::new();
    let version = Box::new(scripted(move |_, events, out| {
        for event in events {
            let Event::Message((_, number)) = event else {
                panic!("{event:?}");
            };
            seen.push(number);
        }
        if seen == [0] {
            monitor.cancel();
            link.cancel();
        }
        if seen == [0, 1] {
            out.done(1);
        }
    }));
    scheduler.upgrade(process.pid(), version, "run", 0).unwrap();
    go_on.send(()).unwrap();
    assert_eq!(process.join().unwrap(), 1);
}
