//! Messages and signals to a future: it has no mailbox, so messages come back; signals reach it.

use std::future::pending;
use std::sync::Arc;

use filch_actors::prelude::*;
use filch_scheduler::{
    Event, ExitReason, JoinError, Pid, ProcessError, Receiver, Scheduler, Undelivered,
};

use crate::common::{Counted, assert_terminated, scheduler, start, summing};

/// A failure: a message is taken, and dropped; or a stranger ends the future.
#[test]
fn a_message_to_a_future_comes_back() {
    let scheduler = Scheduler::<Counted>::builder().workers(1).build().unwrap();
    let future = scheduler.spawn(pending::<()>()).unwrap();
    let (pid, message) = (future.pid(), Arc::new(()));
    let error = scheduler.send(pid, Arc::clone(&message)).unwrap_err();
    assert_eq!((error.to, error.reason), (pid, Undelivered::Future));
    assert_eq!(Arc::strong_count(&error.message), 2, "it came back");
    let error = scheduler.handle().receive(pid, message).unwrap_err();
    assert_eq!(error.reason, Undelivered::Future);
    let info = scheduler.info(pid).unwrap();
    assert_eq!((info.messages, info.undelivered), (0, None));
    future.abort();
    assert_terminated(future.join());
}

/// The next occupant of its slot is no future, and takes messages.
#[test]
fn only_the_future_has_no_mailbox() {
    let slot = |pid: Pid| (pid.to_bits() >> 32) as u32;
    let scheduler = scheduler(1);
    let future = scheduler.spawn(pending::<()>()).unwrap();
    let pid = future.pid();
    future.abort();
    assert!(future.join().is_err());
    // The worker may keep the slot back, until 32 have come together.
    for _ in 0..32 {
        let other = scheduler.submit(summing(1), "run", 0).unwrap().pid();
        scheduler.send(other, (0, 0)).unwrap();
    }
    scheduler.wait_for_standstill().unwrap();
    let mut occupants = (0..100).map(|_| scheduler.submit(summing(1), "run", 0).unwrap());
    let occupant = occupants
        .find(|occupant| slot(occupant.pid()) == slot(pid))
        .expect("the slot is used again");
    scheduler.send(occupant.pid(), (0, 4)).unwrap();
    assert_eq!(occupant.join().unwrap(), 4);
}

/// A monitor, a link, an upgrade and a termination reach it as they reach any process.
#[test]
fn signals_reach_a_future() {
    let scheduler = scheduler(2);
    let watcher = start(&scheduler, |_, events, out| {
        for event in events {
            if let Event::Down(down) = event {
                assert!(matches!(down.reason, ExitReason::Terminated), "{down:?}");
                out.done(1);
            }
        }
    });
    let (one, other) = (pending::<()>(), pending::<()>());
    let one = scheduler.spawn(one).unwrap();
    let other = scheduler.spawn(other).unwrap();
    let _monitor = scheduler.monitor(watcher.pid(), one.pid());
    let _told_in_vain = scheduler.monitor(other.pid(), one.pid());
    let _link = scheduler.link(one.pid(), other.pid());
    one.abort();
    assert_eq!(watcher.join().unwrap(), 1);
    assert_terminated(one.join());
    assert!(matches!(
        other.join(),
        Err(JoinError::Process(ProcessError::Linked { .. }))
    ));
}
