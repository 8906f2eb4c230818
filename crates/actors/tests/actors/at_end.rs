//! Calls at the end of a process: each comes once, in any race.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use filch_actors::prelude::*;
use filch_scheduler::ExitReason;

use crate::common::{scheduler, start, summing, until, waiting};
use crate::timers::asked;

#[test]
fn it_comes_with_the_reason_before_the_join_returns() {
    let scheduler = scheduler(2);
    let (tell, told) = mpsc::channel();
    let failing = start(&scheduler, |_, events, _| match events.is_empty() {
        true => Ok(()),
        false => Err("oh".to_owned()),
    });
    for number in 0..3 {
        let tell = tell.clone();
        let call = move |reason: &ExitReason| tell.send((number, reason.clone())).unwrap();
        let _ = scheduler.at_end(failing.pid(), call);
    }
    let panicking = scheduler.at_end(failing.pid(), |_| panic!("contained"));
    scheduler.send(failing.pid(), (0, 0)).unwrap();
    assert!(failing.join().is_err());
    assert!(!panicking.cancel(), "it has come");
    for number in 0..3 {
        let (told, reason) = told.try_recv().unwrap();
        assert_eq!(told, number);
        assert!(matches!(reason, ExitReason::Failed(_)), "{reason}");
    }
    drop(tell);
    assert!(told.recv().is_err(), "no call comes twice");
}

/// A process that had more events than a step is given, and has caught up, frees its backlog.
#[test]
fn it_stays_when_a_burst_is_over() {
    let scheduler = scheduler(2);
    let (go_on, gate) = mpsc::channel::<()>();
    let process = start(&scheduler, move |_, events, _| {
        if events.is_empty() {
            gate.recv().unwrap();
        }
    });
    let pid = process.pid();
    let (tell, told) = mpsc::channel();
    let _ = scheduler.at_end(pid, move |reason| tell.send(reason.clone()).unwrap());
    (0..1_000).for_each(|number| scheduler.send(pid, (0, number)).unwrap());
    go_on.send(()).unwrap();
    until(|| scheduler.info(pid).unwrap().messages >= 1_000);
    scheduler.wait_for_standstill().unwrap();
    assert!(told.try_recv().is_err(), "it lives");
    scheduler.terminate(pid).unwrap();
    assert!(process.join().is_err());
    assert!(matches!(told.try_recv(), Ok(ExitReason::Terminated)));
}

#[test]
fn one_that_is_cancelled_does_not_come_and_keeps_nothing() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    for _ in 0..100 {
        let (tell, told) = mpsc::channel::<()>();
        let call = scheduler.at_end(process.pid(), move |_| drop(tell));
        assert!(call.cancel());
        assert!(told.recv().is_err());
    }
    scheduler.cancel(process.pid(), "that is all").unwrap();
    process.join().unwrap();
}

#[test]
fn of_a_process_that_has_ended_it_comes_at_once() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(0), "run", 0).unwrap();
    let pid = process.pid();
    process.join().unwrap();
    let (tell, told) = mpsc::channel();
    let _ = scheduler.at_end(pid, move |reason| tell.send(reason.clone()).unwrap());
    assert!(matches!(told.try_recv(), Ok(ExitReason::NoSuchProcess)));
}

/// A handler that gives up what it does for a process that has ended.
#[test]
fn a_completion_tells_of_the_end_of_its_process() {
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    let (tell, told) = mpsc::channel();
    let (scheduler, pid) = (completion.handle(), completion.pid());
    let _ = scheduler.at_end(pid, move |reason| tell.send(reason.clone()).unwrap());
    assert!(told.try_recv().is_err());
    scheduler.terminate(process.pid()).unwrap();
    assert!(matches!(told.recv(), Ok(ExitReason::Terminated)));
    assert!(!completion.is_wanted());
}

#[test]
fn a_future_waits_for_the_end_of_any_process() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    let (handle, pid) = (scheduler.handle(), process.pid());
    let ended = scheduler.ended(pid);
    let watcher = scheduler.spawn(async move { (ended.await, handle.ended(pid).await) });
    scheduler.terminate(pid).unwrap();
    let (first, second) = watcher.unwrap().join().unwrap();
    assert!(matches!(first, ExitReason::Terminated), "{first}");
    assert!(matches!(second, ExitReason::NoSuchProcess), "{second}");
    // One that is given up leaves nothing with the process.
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    {
        let mut waits = pin!(scheduler.ended(process.pid()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waits.as_mut().poll(&mut context).is_pending());
    }
    scheduler.terminate(process.pid()).unwrap();
    assert!(process.join().is_err());
}
