//! Messages for which a mailbox has no room.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{MailboxFull, SendingError, WhenFull};
use filch_scheduler::{
    Event, JoinError, Process, ProcessError, ProcessHandle, Scheduler, SendError, Undelivered,
};

use crate::common::{Test, scheduler, scripted, until};

/// A process in a step, which tells the events of each step.
struct Held {
    process: ProcessHandle<Test>,
    steps: Receiver<Vec<u64>>,
    go_on: Sender<()>,
}

impl Held {
    fn new(scheduler: &Scheduler<Test>, messages: usize, when_full: WhenFull) -> Self {
        let (tell, steps) = mpsc::channel();
        let (go_on, gate) = mpsc::channel::<()>();
        let process = scripted(move |_, events, out| {
            let _ = tell.send(values(&events));
            // When the test has ended, so does this.
            match gate.recv() {
                Ok(()) => out.idle(),
                Err(_) => out.done(0),
            }
        });
        let process = scheduler.submission(process, "run", 0);
        let process = process.mailbox_with(messages, when_full).submit().unwrap();
        assert!(steps.recv().unwrap().is_empty());
        Self {
            process,
            steps,
            go_on,
        }
    }

    /// Returns the messages that the next step is given.
    fn step(&self) -> Vec<u64> {
        self.go_on.send(()).unwrap();
        self.steps.recv().unwrap()
    }
}

fn values(events: &[Event<Test>]) -> Vec<u64> {
    let value = |event: &Event<Test>| match event {
        Event::Message((_, value)) => *value,
        other => panic!("{other:?}"),
    };
    events.iter().map(value).collect()
}

/// Its slot is then another process's.
#[test]
fn what_a_dead_process_was_sent_is_not_the_next_ones() {
    let scheduler = scheduler(2);
    let held = Held::new(&scheduler, 2, WhenFull::DropOldest);
    let dead = held.process.pid();
    scheduler.send(dead, (0, 1)).unwrap();
    assert_eq!(scheduler.info(dead).unwrap().undelivered, Some(1));
    scheduler.terminate(dead).unwrap();
    held.go_on.send(()).unwrap();
    assert!(held.process.join().is_err());
    let gone = scheduler.send(dead, (0, 2)).unwrap_err();
    assert_eq!(
        (gone.reason, gone.message),
        (Undelivered::NoSuchProcess, (0, 2))
    );
    let held = Held::new(&scheduler, 1, WhenFull::DropOldest);
    let undelivered = scheduler.info(held.process.pid()).unwrap().undelivered;
    assert_eq!(undelivered, Some(0));
    (3..5).for_each(|value| scheduler.send(held.process.pid(), (0, value)).unwrap());
    assert_eq!(held.step(), [4]);
}

/// Also those in the function's inbox that it has not read; but none whose sender waits, and that
/// is told when it has been read.
#[test]
fn the_oldest_are_dropped_that_a_function_has_not_read() {
    let scheduler = scheduler(2);
    let (begin, begun) = mpsc::channel::<()>();
    let gate = scheduler.spawn(async move { begun.recv() }).unwrap();
    let reader = scheduler
        .submission_with(|mut inbox| async move {
            gate.await.unwrap().unwrap();
            [inbox.next().await, inbox.next().await, inbox.next().await]
        })
        .mailbox_with(2, WhenFull::DropOldest)
        .spawn()
        .unwrap();
    let pid = reader.pid();
    let mut waits = None;
    for value in 0..6 {
        match value {
            1 => waits = Some(scheduler.send_when_room(pid, (0, value))),
            _ => scheduler.send(pid, (0, value)).unwrap(),
        }
        // The next one comes in another turn.
        until(|| scheduler.info(pid).unwrap().undelivered == Some(0));
    }
    let waits = waits.unwrap().wait_timeout(Duration::ZERO);
    let Err(SendingError::NotYet(waits)) = waits else {
        panic!("{waits:?}");
    };
    begin.send(()).unwrap();
    waits.wait().unwrap();
    assert_eq!(values(&reader.join().unwrap()), [1, 4, 5]);
    assert_eq!(scheduler.stats().dropped, 3);
}

#[test]
fn the_process_ends() {
    let scheduler = scheduler(2);
    let held = Held::new(&scheduler, 1, WhenFull::End);
    let pid = held.process.pid();
    scheduler.send(pid, (0, 0)).unwrap();
    for value in 1..3 {
        let SendError {
            reason, message, ..
        } = scheduler.send(pid, (0, value)).unwrap_err();
        let full = Undelivered::Full { limit: 1 };
        assert_eq!((reason, message), (full, (0, value)));
    }
    held.go_on.send(()).unwrap();
    let Err(JoinError::Process(error)) = held.process.join() else {
        panic!("its mailbox was full")
    };
    let ProcessError::FunctionFailed(error) = error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("full (1 messages)"), "{error}");
    assert!(error.is::<MailboxFull>());
    assert_eq!(held.steps.iter().count(), 0, "that step was its last one");
    let gone = scheduler.send(pid, (0, 3)).unwrap_err();
    assert_eq!(gone.reason, Undelivered::NoSuchProcess);
}

/// Sends those numbers to `to` as there is room, one after another, and is done with their count.
fn sender(to: filch_scheduler::Pid, from: usize, numbers: u64) -> impl Process<Test> {
    let mut sent = 0;
    scripted(move |context, events, out| {
        for event in &events {
            let Event::Completed { tag, result } = event else {
                panic!("{event:?}")
            };
            assert_eq!((*tag, result.as_ref().ok()), (sent - 1, Some(&1)));
        }
        if sent == numbers {
            out.done(sent);
            return Ok(());
        }
        let reply = |sent: Result<(), SendError<Test>>| match sent {
            Ok(()) => Ok(1),
            Err(error) => Err(error.to_string()),
        };
        out.send_when_room(context, sent, to, (from, sent), reply);
        out.wait();
        sent += 1;
        Ok(())
    })
}

#[test]
fn senders_wait_for_room_and_keep_their_order() {
    const SENDERS: usize = 4;
    const NUMBERS: u64 = 2_000;
    use WhenFull::{DropNewest, DropOldest, End, Refuse};
    for when_full in [Refuse, DropNewest, DropOldest, End] {
        let scheduler = scheduler(2);
        let reader = scheduler.submission_with(|mut inbox| async move {
            let mut next = HashMap::<usize, u64>::new();
            for _ in 0..SENDERS as u64 * NUMBERS {
                let Event::Message((from, number)) = inbox.next().await else {
                    panic!("there are messages only")
                };
                let next = next.entry(from).or_default();
                assert_eq!(*next, number);
                *next += 1;
                let waiting = inbox.handle().info(inbox.pid()).unwrap().undelivered;
                assert!(waiting.unwrap() as usize <= 3 + SENDERS);
            }
        });
        let reader = reader.mailbox_with(3, when_full).spawn().unwrap();
        let senders = (0..SENDERS).map(|from| {
            let sender = sender(reader.pid(), from, NUMBERS);
            scheduler.submit(sender, "run", 0).unwrap()
        });
        for sender in senders.collect::<Vec<_>>() {
            assert_eq!(sender.join().unwrap(), NUMBERS);
        }
        reader.join().unwrap();
        assert_eq!(scheduler.stats().dropped, 0);
    }
}

/// The message of a waiting sender stands behind those that were there, and has no room before they
/// have gone: no message overtakes it.
#[test]
fn nobody_overtakes_one_that_waits() {
    let scheduler = scheduler(2);
    let held = Held::new(&scheduler, 1, WhenFull::Refuse);
    let pid = held.process.pid();
    scheduler.send(pid, (0, 0)).unwrap();
    let mut waits = pin!(scheduler.send_when_room(pid, (0, 1)));
    let mut poll = || waits.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    let full = scheduler.send(pid, (0, 2)).unwrap_err();
    assert_eq!(full.reason, Undelivered::Full { limit: 1 });
    assert_eq!(held.step(), [0, 1]);
    assert!(matches!(poll(), Poll::Ready(Ok(()))));
    scheduler.send(pid, (0, 2)).unwrap();
    assert_eq!(held.step(), [2]);
}

/// A failure: what `send` sends later replaces a message whose sender waits.
#[test]
fn the_oldest_is_dropped_of_those_whose_senders_do_not_wait() {
    let scheduler = scheduler(2);
    let held = Held::new(&scheduler, 1, WhenFull::DropOldest);
    let pid = held.process.pid();
    scheduler.send(pid, (0, 0)).unwrap();
    let waits = scheduler.send_when_room(pid, (0, 1));
    (2..4).for_each(|value| scheduler.send(pid, (0, value)).unwrap());
    assert_eq!(scheduler.stats().dropped, 2);
    assert_eq!(held.step(), [1, 3]);
    waits.wait().unwrap();
}
