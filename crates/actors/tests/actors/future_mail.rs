//! Messages and signals to a future: it has no mailbox, so messages come back; signals reach it.

use std::future::{pending, poll_fn};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};

use filch_actors::prelude::*;
use filch_scheduler::{
    Event, ExitReason, JoinError, Node, Pid, ProcessError, Protocol, Receiver, Scheduler,
    SendError, Undelivered,
};

use crate::common::{assert_terminated, scheduler, start, summing};

/// A protocol whose messages are counted by their `Arc`.
enum Counted {}

impl Protocol for Counted {
    type Input = ();
    type Message = Arc<()>;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Others know its PID, and send to it in every way, while it runs and while it is pending. A
/// failure: a message is taken, and dropped; or a stranger ends the future.
#[test]
fn a_message_to_a_future_comes_back() {
    let scheduler = Scheduler::<Counted>::builder().workers(1).build().unwrap();
    let message = Arc::new(());
    let (say, begun) = mpsc::channel();
    let (open, opened) = mpsc::channel::<()>();
    let (give, take) = mpsc::channel::<Waker>();
    let (finish, finished) = mpsc::channel::<()>();
    let mut first = true;
    let future = scheduler.spawn(poll_fn(move |context| {
        if !std::mem::take(&mut first) {
            // Its name was a reason to poll it, too.
            return match finished.try_recv() {
                Ok(()) => Poll::Ready(5),
                Err(_) => Poll::Pending,
            };
        }
        say.send(()).unwrap();
        opened.recv().unwrap();
        give.send(context.waker().clone()).unwrap();
        Poll::Pending
    }));
    let future = future.unwrap();
    let pid = future.pid();
    scheduler.register("future", pid).unwrap();
    let message = || Arc::clone(&message);
    let refused = |outcome: Result<(), SendError<Counted>>| {
        let error = outcome.unwrap_err();
        assert_eq!((error.to, error.reason), (pid, Undelivered::Future));
        assert_eq!(
            Arc::strong_count(&error.message),
            2,
            "it came back, and nothing else is left"
        );
    };
    let all_ways = || {
        refused(scheduler.send(pid, message()));
        refused(scheduler.send(scheduler.whereis("future").unwrap(), message()));
        refused(scheduler.handle().receive(pid, message()));
        // Through the other node's scheduler, whose receiver is a handle to this one.
        let away = Scheduler::<Counted>::builder()
            .node(Node(1))
            .build()
            .unwrap();
        away.connect(Node(0), scheduler.handle()).unwrap();
        refused(away.send(pid, message()));
    };
    begun.recv().unwrap();
    all_ways();
    open.send(()).unwrap();
    let waker = take.recv().unwrap();
    all_ways();
    finish.send(()).unwrap();
    let info = scheduler.info(pid).unwrap();
    assert_eq!((info.messages, info.undelivered), (0, None));
    waker.wake();
    assert_eq!(future.join().unwrap(), 5);
    let gone = scheduler.send(pid, message()).unwrap_err();
    assert_eq!(gone.reason, Undelivered::NoSuchProcess);
}

/// The next occupant of its slot is no future, and takes messages; and a process that sends to a
/// future from inside is refused too.
#[test]
fn only_the_future_has_no_mailbox() {
    let slot = |pid: Pid| (pid.to_bits() >> 32) as u32;
    let scheduler = scheduler(1);
    let future = scheduler.spawn(pending::<()>()).unwrap();
    let pid = future.pid();
    let sender = start(&scheduler, move |context, _, out| {
        let error = context.send(pid, (0, 3)).unwrap_err();
        assert_eq!(error.reason, Undelivered::Future);
        out.done(error.message.1);
    });
    assert_eq!(sender.join().unwrap(), 3);
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
