//! Row A1 and other wrong calls: a typed error, the refused value handed back, nothing left behind.

use std::time::Duration;

use crate::common::{Command, Test, closed_once, scheduler, scripted, summing, waiting};
use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{
    BuildError, Builder, InitError, Pid, PoolError, ProcessError, Scheduler, SubmitError,
};

#[test]
fn numbers_that_no_scheduler_can_have() {
    use BuildError::{Processors, ZeroEventsPerStep, ZeroLimit};
    let builder = Scheduler::<Test>::builder;
    let refused = |builder: Builder<Test>| builder.build().unwrap_err();
    let error = refused(builder().workers(0));
    assert_eq!(
        error.to_string(),
        "cannot start the workers: 0 processors can run nothing: ask for at least 1"
    );
    assert!(matches!(error, Processors(PoolError::NoProcessors)));
    assert!(matches!(
        refused(builder().workers(usize::MAX)),
        Processors(PoolError::TooManyProcessors {
            asked: usize::MAX,
            max: 65_534
        })
    ));
    assert!(matches!(
        refused(builder().threads(|set| set.processors(2).thread_limit(1))),
        Processors(PoolError::TooFewThreads {
            limit: 1,
            processors: 2
        })
    ));
    let error = refused(builder().events_per_step(0));
    assert_eq!(
        error.to_string(),
        "a step of 0 events delivers none: give each at least 1"
    );
    assert!(matches!(error, ZeroEventsPerStep));
    assert!(matches!(refused(builder().limit(0)), ZeroLimit));
}

#[test]
fn a1_an_unknown_method_is_named_with_the_known_ones() {
    let scheduler = scheduler(1);
    let process = waiting();
    let closed = process.closed();
    let error = scheduler.submit(process, "rum", 0).unwrap_err();
    let SubmitError::Init(InitError::UnknownMethod { method, .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(method, "rum");
    assert_eq!(
        error.to_string(),
        "no method `rum`; this process has: run, fail, panic"
    );
    assert!(closed_once(&closed));
    assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
}

#[test]
fn a14_an_init_that_fails_or_panics() {
    let scheduler = scheduler(1);
    for (method, said) in [
        ("fail", "init failed: init does not want to"),
        ("panic", "init panicked: init's message (in process "),
    ] {
        let process = waiting();
        let closed = process.closed();
        let error = scheduler.submit(process, method, 0).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(closed_once(&closed));
        assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
    }
}

#[test]
fn a13_a_full_house_hands_the_process_back_until_one_leaves() {
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .limit(2)
        .build()
        .unwrap();
    let first = scheduler.submit(summing(1), "run", 0).unwrap();
    let _second = scheduler.submit(waiting(), "run", 0).unwrap();
    let third = waiting();
    let closed = third.closed();
    let Err(SubmitError::NotAdmitted(filch_scheduler::NotAdmitted::LimitReached(limit), refused)) =
        scheduler.submit(third, "run", 5)
    else {
        panic!("the limit is 2");
    };
    let (process, input) = refused.into_inner();
    assert_eq!((limit.get(), input), (2, 5));
    assert_eq!(
        closed.load(std::sync::atomic::Ordering::Relaxed),
        0,
        "nothing was called on it"
    );
    scheduler.send(first.pid(), (0, 1)).unwrap();
    assert_eq!(first.join().unwrap(), 1);
    let third = scheduler.submit(process, "run", input).unwrap();
    assert_eq!(scheduler.live(), 2);
    drop(third);
}

/// A failure: it is counted still where its end is told, and the next one is refused.
#[test]
fn who_is_told_of_an_end_finds_room() {
    let builder = Scheduler::<Test>::builder().workers(1);
    let scheduler = builder.limit(1).build().unwrap();
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let handle = scheduler.handle();
    let _ = scheduler.at_end(process.pid(), move |_| {
        let live = handle.live();
        let next = handle.submit(waiting(), "run", 0);
        tell.send((live, next.is_ok())).unwrap();
    });
    process.terminate();
    assert_eq!(told.recv(), Ok((0, true)));
    let handle = scheduler.handle();
    let report = scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert!(report.is_clean());
    assert_eq!(handle.live(), 0);
}

/// PIDs of other slots, or of later occupants of the same one. A failure: the message is taken, and
/// waits there for a process that it was never meant for.
#[test]
fn a11_a_pid_that_is_yet_to_be_hands_the_message_back() {
    let scheduler = scheduler(2);
    let mut first = scheduler.submit(summing(0), "run", 0).unwrap();
    for _ in 0..100 {
        let pid = first.pid();
        first.join().unwrap();
        for (slot, life) in [(0, 1), (1, 0), (1, 1), (2, 0), (3, 0)] {
            let next = Pid::from_bits(pid.to_bits() + (slot << 32) + life);
            let error = scheduler.send(next, (1, 2)).unwrap_err();
            assert_eq!((error.to, error.message), (next, (1, 2)));
        }
        first = scheduler.submit(summing(1), "run", 0).unwrap();
        scheduler.send(first.pid(), (0, 3)).unwrap();
    }
    assert_eq!(first.join().unwrap(), 3);
}

#[test]
fn a14_a_step_that_fails_or_panics_ends_its_process_and_no_other() {
    let scheduler = scheduler(2);
    let bystander = scheduler.submit(summing(1), "run", 0).unwrap();
    let failing = scripted(|_, _, out| {
        out.yield_command(0, Command::Echo(1));
        Err("cannot go on".to_owned())
    });
    let closed = failing.closed();
    let error = scheduler.execute(failing, "run", 0).unwrap_err();
    let ExecuteError::Process(ProcessError::Failed(message)) = &error else {
        panic!("{error}");
    };
    assert_eq!(message, "cannot go on");
    assert!(closed_once(&closed));

    let panicking = scripted::<()>(|_, _, _| panic!("step's message"));
    let closed = panicking.closed();
    let error = scheduler.execute(panicking, "run", 0).unwrap_err();
    let ExecuteError::Process(ProcessError::Panicked(message)) = &error else {
        panic!("{error}");
    };
    assert!(
        message.starts_with("step's message (in process "),
        "{message}"
    );
    assert!(closed_once(&closed));

    scheduler.send(bystander.pid(), (0, 8)).unwrap();
    assert_eq!(bystander.join().unwrap(), 8);
    assert_eq!(scheduler.stats().total().failed, 2);
}
