//! Processes' timers against other threads, futures, and the end.

use std::future::pending;

use filch_actors::prelude::*;
use filch_actors::timers::{EndByError, NotSet, TimeoutError};
use filch_scheduler::{Completion, JoinError, ProcessError, Scheduler, SubmitError};

use crate::common::{Command, Test, scheduler, start, summing};
use crate::timers::{SECOND, asked, failure, fake};

/// A command whose deadline is dropped does not wait for ever for an answer that never comes.
#[test]
fn a_deadline_that_a_shutdown_drops_is_heard_of() {
    let (_, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    let before = timers
        .deadline(timers.now() + SECOND, completion, "late".to_owned())
        .unwrap();
    timers.shutdown();
    assert!(failure(process).contains("without completing"));
    assert!(before.take().is_none());
}

/// Each way to set a timer for a process. A failure: it is accepted, and never comes.
#[test]
fn timers_that_are_shut_down_refuse_what_they_are_given() {
    let (_, timers) = fake();
    let scheduler = scheduler(2);
    timers.shutdown();
    let due = timers.after(SECOND);

    let (process, completion) = asked(&scheduler);
    let refused = timers.complete_at(due, completion, 5).unwrap_err();
    let (completion, reply) = refused.into_inner();
    completion.complete(reply);
    assert_eq!(process.join().unwrap(), 5);

    let (process, completion) = asked(&scheduler);
    let refused = timers.complete_after(SECOND, completion, 6).unwrap_err();
    refused.into_inner().0.complete(7);
    assert_eq!(process.join().unwrap(), 7);

    let (process, completion) = asked(&scheduler);
    let refused = timers.deadline(due, completion, "refused".to_owned());
    refused.unwrap_err().into_inner().fail("again".to_owned());
    assert_eq!(failure(process), "again");

    let process = scheduler.submit(summing(2), "run", 0).unwrap();
    let pid = process.pid();
    let refused = timers.send_at(due, &scheduler, pid, (0, 1)).unwrap_err();
    scheduler.send(pid, refused.into_inner()).unwrap();
    let refused = timers.interval(SECOND, &scheduler, pid, || {
        unreachable!("no message is made")
    });
    assert_eq!(refused.unwrap_err(), NotSet::Closed(()));
    scheduler.send(pid, (0, 2)).unwrap();
    assert_eq!(process.join().unwrap(), 3);

    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    let refused = timers.end_by(due, &scheduler, pid, "refused");
    assert_eq!(refused, Err(EndByError::TimersClosed));
    scheduler.send(pid, (0, 8)).unwrap();
    assert_eq!(process.join().unwrap(), 8, "it was not asked to end");

    let submission = scheduler.submission(summing(0), "run", 9);
    match submission.deadline(due, &timers).submit() {
        Err(SubmitError::NotAdmitted(reason, refused)) => {
            assert_eq!(reason.unmet(), Some(&EndByError::TimersClosed));
            assert_eq!(refused.into_inner().1, 9);
        }
        other => panic!("{other:?}"),
    }
    let over = scheduler.spawn(async move { timers.timeout(SECOND, pending::<()>()).await });
    assert_eq!(
        over.unwrap().join().unwrap(),
        Err(TimeoutError::TimersClosed)
    );
}

#[test]
fn timers_do_not_outlive_a_scheduler_whose_handler_holds_them() {
    let (clock, timers) = fake();
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .handler({
            let timers = timers.clone();
            move |_: Command, completion: Completion<Test>| {
                timers.complete_after(SECOND, completion, 3).unwrap();
            }
        })
        .build()
        .unwrap();
    let sleeping = start(&scheduler, |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Echo(1));
        }
        out.idle();
    });
    timers.block_until(1);
    drop(scheduler);
    assert!(matches!(
        sleeping.join(),
        Err(JoinError::Process(ProcessError::ShutDown))
    ));
    // Its command is still pending, though nothing waits for it any more.
    assert_eq!(timers.pending(), 1);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}
