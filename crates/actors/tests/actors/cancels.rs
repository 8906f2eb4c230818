//! Asking one process to end, with and without a deadline.

use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::timers::EndByError;
use filch_scheduler::{Event, NoSuchProcess};

use crate::common::{Command, assert_terminated, scheduler, start, summing, waiting};
use crate::timers::{SECOND, fake};

#[test]
fn a_process_hears_why_and_decides_for_itself() {
    let scheduler = scheduler(2);
    let process = start(&scheduler, |_, events, out| {
        let asked = events.iter().filter_map(|event| match event {
            Event::Cancel(cancel) => Some(cancel),
            _ => None,
        });
        for cancel in asked {
            assert!(!cancel.is_shutdown());
            assert_eq!(cancel.deadline(), None);
            match cancel.reason() {
                "not yet" => {}
                reason => out.done(reason.len() as u64),
            }
        }
    });
    let pid = process.pid();
    scheduler.cancel(pid, "not yet").unwrap();
    scheduler.cancel(pid, "now").unwrap();
    assert_eq!(process.join().unwrap(), 3);
    assert_eq!(scheduler.cancel(pid, "again"), Err(NoSuchProcess { pid }));
}

#[test]
fn it_ends_a_wait_for_commands_and_comes_behind_the_messages() {
    let scheduler = scheduler(2);
    let (give, completions) = std::sync::mpsc::channel();
    let mut messages = 0;
    let process = start(&scheduler, move |context, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
            context.send(context.pid(), (0, 1)).unwrap();
            context.cancel(context.pid(), "enough").unwrap();
            return Ok(());
        }
        for event in events {
            match event {
                Event::Message(_) => messages += 1,
                Event::Cancel(_) => out.done(messages),
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    });
    let completion = completions.recv().unwrap();
    assert_eq!(process.join().unwrap(), 1);
    drop(completion);
}

#[test]
fn a_shutdown_says_that_it_is_one() {
    let scheduler = scheduler(1);
    let process = start(&scheduler, |_, events, out| {
        for event in events {
            if let Event::Cancel(cancel) = event {
                assert_eq!(cancel.reason(), "the scheduler shuts down");
                out.done(u64::from(cancel.is_shutdown()));
            }
        }
    });
    scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!(process.join().unwrap(), 1);
}

#[test]
fn one_that_does_not_end_in_time_is_terminated() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (tell, told) = std::sync::mpsc::channel();
    let stubborn = start(&scheduler, move |_, events, _| {
        for event in events {
            if let Event::Cancel(cancel) = event {
                tell.send(cancel).unwrap();
            }
        }
    });
    let deadline = timers.now() + SECOND;
    timers
        .end_by(deadline, &scheduler, stubborn.pid(), "please")
        .unwrap();
    let asked = told.recv().unwrap();
    assert_eq!(
        (asked.reason(), asked.deadline()),
        ("please", Some(deadline))
    );
    clock.advance(SECOND - Duration::from_nanos(1));
    assert!(!stubborn.has_ended());
    clock.advance(Duration::from_nanos(1));
    let ended = stubborn.join();
    assert_terminated(ended);
}

/// The timer of a process that has ended in time does not stay.
#[test]
fn a_deadline_goes_with_its_process() {
    let (_clock, timers) = fake();
    let scheduler = scheduler(2);
    let (asked, bounded) = (waiting(), summing(1));
    let asked = scheduler.submit(asked, "run", 0).unwrap();
    let deadline = timers.now() + SECOND;
    let submission = scheduler.submission(bounded, "run", 0);
    let bounded = submission.deadline(deadline, &timers).submit().unwrap();
    assert_eq!(timers.pending(), 1);
    scheduler.send(bounded.pid(), (0, 7)).unwrap();
    assert_eq!(bounded.join().unwrap(), 7);
    assert_eq!(timers.pending(), 0);
    let pid = asked.pid();
    timers.end_by(deadline, &scheduler, pid, "please").unwrap();
    assert_eq!(asked.join().unwrap(), 0);
    assert_eq!(timers.pending(), 0);
    let late = timers.end_by(deadline, &scheduler, pid, "please");
    let gone = NoSuchProcess { pid };
    assert_eq!(late, Err(EndByError::NoSuchProcess(gone)));
    assert_eq!(timers.pending(), 0);
}
