//! Sends against the receiver's steps.

use shuttle::thread;
use shuttle_tests::{explore, explore_each};

use super::{Closed, FOR_EVER, Note, prompt_scheduler, scripted, summing};
use filch_actors::prelude::*;
use filch_scheduler::Event;

/// Two threads send two messages each while the receiver starts, drains, goes idle, and drains
/// again. A failure: a message lost or overtaken; or a deadlock in `join`, as the message is there
/// and nobody was told to run the process.
#[test]
fn two_senders_and_a_process_that_goes_idle() {
    explore_each(
        "every message wakes its process",
        1_500,
        [1, 2],
        |workers| {
            let (scheduler, closed) = (prompt_scheduler(workers), Closed::new());
            let process = scheduler.submit(summing(&closed, 4), "run", ()).unwrap();
            let sender = |number: usize| {
                let (handle, pid) = (scheduler.handle(), process.pid());
                thread::spawn(move || {
                    handle.send(pid, Note::Number(10 * number + 1)).unwrap();
                    handle.send(pid, Note::Number(10 * number + 2)).unwrap();
                })
            };
            let (first, second) = (sender(0), sender(1));
            assert_eq!(process.join().unwrap(), 1 + 2 + 11 + 12);
            first.join().unwrap();
            second.join().unwrap();
            assert_eq!(closed.count(), 1);
            scheduler.shutdown(FOR_EVER).unwrap();
        },
    );
}

/// Two processes play ping-pong on one or two workers, four strokes. A failure: a deadlock in
/// `join`, as both are idle with the ball between them.
#[test]
fn two_processes_play() {
    explore_each("a ball between two processes", 1_500, [1, 2], |workers| {
        let (scheduler, closed) = (prompt_scheduler(workers), Closed::new());
        let player = || {
            let mut partner = None;
            scripted(&closed, move |context, events, out| {
                out.idle();
                for event in events {
                    match event {
                        Event::Message(Note::Partner(pid)) => partner = Some(pid),
                        Event::Message(Note::Number(stroke)) => {
                            if stroke < 4 {
                                let next = Note::Number(stroke + 1);
                                let other = partner.expect("the partner was named before");
                                context.send(other, next).unwrap();
                            }
                            if stroke >= 3 {
                                out.done(stroke);
                            }
                        }
                        event => panic!("{event:?}"),
                    }
                }
            })
        };
        let first = scheduler.submit(player(), "run", ()).unwrap();
        let second = scheduler.submit(player(), "run", ()).unwrap();
        scheduler
            .send(first.pid(), Note::Partner(second.pid()))
            .unwrap();
        scheduler
            .send(second.pid(), Note::Partner(first.pid()))
            .unwrap();
        scheduler.send(first.pid(), Note::Number(1)).unwrap();
        assert_eq!((first.join().unwrap(), second.join().unwrap()), (3, 4));
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Three threads send one message each to a process whose mailbox holds one, while it reads. A
/// failure: a step gets two; an accepted message is not read; or one is refused while there was
/// room.
#[test]
fn a_mailbox_is_full_exactly_when_it_is() {
    explore("a limit is never overshot", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(1), Closed::new());
        let mut read = 0;
        let process = scripted(&closed, move |_, events, out| {
            out.idle();
            let mut messages = 0;
            for event in events {
                match event {
                    Event::Message(_) => messages += 1,
                    Event::Cancel(_) => out.done(read + messages),
                    event => panic!("{event:?}"),
                }
            }
            assert!(messages <= 1, "{messages} at once");
            read += messages;
        });
        let process = scheduler
            .submission(process, "run", ())
            .mailbox(1)
            .submit()
            .unwrap();
        let senders = [0, 1, 2].map(|_| {
            let (handle, pid) = (scheduler.handle(), process.pid());
            thread::spawn(move || usize::from(handle.send(pid, Note::Number(1)).is_ok()))
        });
        let accepted = senders.map(|sender| sender.join().unwrap());
        let accepted: usize = accepted.into_iter().sum();
        assert!(accepted >= 1, "refused while there was room");
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(process.join().unwrap(), accepted);
    });
}
