//! The names, watchers, links and deadline that a process has from its first moment.

use filch_actors::prelude::*;
use filch_actors::{RegisterError, SpawnError};
use filch_scheduler::{Event, ExitReason, JoinError, ProcessError, SubmitError};

use crate::common::{assert_terminated, scheduler, scripted, start, summing, waiting};
use crate::timers::{SECOND, fake};

#[test]
fn it_has_its_name_in_its_first_step_and_until_it_ends() {
    let scheduler = scheduler(2);
    let process = scripted(|context, _, out| {
        let named = context.handle().whereis("self");
        out.done(u64::from(named == Some(context.pid())));
    });
    let process = scheduler.submission(process, "run", 0).name("self");
    assert_eq!(process.submit().unwrap().join().unwrap(), 1);
    assert_eq!(scheduler.whereis("self"), None);
}

#[test]
fn a_name_that_is_taken_refuses_the_process_which_comes_back_unstarted() {
    let scheduler = scheduler(2);
    let first = scheduler.submission(waiting(), "run", 0).name("one");
    let first = first.submit().unwrap();
    // Its `init` would fail.
    let second = scheduler.submission(summing(1), "fail", 7).name("one");
    let Err(SubmitError::NotAdmitted(filch_scheduler::NotAdmitted::Condition(error), refused)) =
        second.submit()
    else {
        panic!("two processes of one name");
    };
    let error = error.downcast_ref::<RegisterError>();
    assert!(matches!(error, Some(RegisterError::Taken { holder, .. }) if *holder == first.pid()));
    assert_eq!(scheduler.live(), 1);
    // What came back is whole.
    let (process, input) = refused.into_inner();
    assert_eq!(input, 7);
    let again = scheduler.submission(process, "run", input);
    let again = again.name("two").submit().unwrap();
    scheduler.send(again.pid(), (0, 5)).unwrap();
    assert_eq!(again.join().unwrap(), 5);
    let third = scheduler
        .submission_with(|_| async { 3 })
        .name("one")
        .spawn();
    let Err(SpawnError::NotAdmitted(_, future)) = third else {
        panic!("two processes of one name");
    };
    let third = scheduler
        .submission_with(future.into_inner())
        .name("two")
        .spawn();
    assert_eq!(third.unwrap().join().unwrap(), 3);
}

#[test]
fn a_link_from_the_first_moment_works_both_ways() {
    let scheduler = scheduler(2);
    let parent = scheduler.submit(waiting(), "run", 0).unwrap();
    let failing = scripted(|_, _, _| Err("oh".to_owned()));
    let failing = scheduler.submission(failing, "run", 0);
    let failing = failing.linked_to(parent.pid()).submit().unwrap();
    assert!(failing.join().is_err());
    scheduler.wait_for_standstill().unwrap();
    let Err(JoinError::Process(ProcessError::Linked { .. })) = parent.try_join() else {
        panic!("it ends with what it is linked to");
    };
    let parent = scheduler.submit(waiting(), "run", 0).unwrap();
    let child = scheduler.submission(waiting(), "run", 0);
    let child = child.linked_to(parent.pid()).submit().unwrap();
    scheduler.terminate(parent.pid()).unwrap();
    scheduler.wait_for_standstill().unwrap();
    let Err(JoinError::Process(ProcessError::Linked { origin, .. })) = child.try_join() else {
        panic!("it ends with what it is linked to");
    };
    assert_eq!(origin, parent.pid());
}

#[test]
fn a_process_linked_to_one_that_has_ended_ends() {
    let scheduler = scheduler(2);
    let gone = scheduler.submit(summing(0), "run", 0).unwrap();
    let pid = gone.pid();
    gone.join().unwrap();
    let orphan = scheduler.submission(waiting(), "run", 0).linked_to(pid);
    let orphan = orphan.submit().unwrap();
    scheduler.wait_for_standstill().unwrap();
    let Err(JoinError::Process(ProcessError::Linked { origin, reason })) = orphan.try_join() else {
        panic!("nobody is left that it is linked to");
    };
    assert_eq!(origin, pid);
    assert!(matches!(*reason, ExitReason::NoSuchProcess));
}

#[test]
fn nobody_is_told_of_a_process_that_did_not_start() {
    let scheduler = scheduler(2);
    let watcher = start(&scheduler, |_, events, out| {
        for event in events {
            match event {
                Event::Cancel(_) => out.done(0),
                other => panic!("{other:?}"),
            }
        }
    });
    let failing = scheduler.submission(waiting(), "fail", 0);
    let failing = failing.monitored_by(watcher.pid()).linked_to(watcher.pid());
    assert!(failing.submit().is_err());
    scheduler.cancel(watcher.pid(), "that is all").unwrap();
    assert_eq!(watcher.join().unwrap(), 0);
}

#[test]
fn a_deadline_that_has_passed_refuses_the_process() {
    let (clock, timers) = fake();
    let scheduler = scheduler(1);
    let deadline = timers.now() + SECOND;
    clock.advance(SECOND);
    let late = scheduler.submission(summing(0), "run", 7);
    match late.deadline(deadline, &timers).submit() {
        Err(SubmitError::NotAdmitted(_, refused)) => assert_eq!(refused.into_inner().1, 7),
        other => panic!("{other:?}"),
    }
    let late = scheduler.submission_with(|_| async {});
    let late = late.deadline(deadline, &timers).spawn();
    assert!(matches!(late, Err(SpawnError::NotAdmitted(_, _))));
    assert_eq!(scheduler.live(), 0);
}

#[test]
fn one_that_has_not_ended_at_its_deadline_is_terminated() {
    let (clock, timers) = fake();
    let scheduler = scheduler(1);
    let deadline = timers.now() + SECOND;
    let slow = scheduler.submission(waiting(), "run", 0);
    let slow = slow.deadline(deadline, &timers).submit().unwrap();
    clock.advance(SECOND);
    assert_terminated(slow.join());
}
