//! Mailboxes without room: senders wait, messages are dropped, processes end.

use filch_actors::prelude::*;
use filch_actors::{Inbox, MailboxFull, WhenFull};
use filch_scheduler::{Event, JoinError, ProcessError, Undelivered};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, Numbers, prompt_scheduler, scripted};

/// Reads two numbers of each of two senders.
pub(crate) async fn read(inbox: &mut Inbox<Numbers>) {
    let mut last = [0; 2];
    for _ in 0..4 {
        let Event::Message(Note::Number(message)) = inbox.next().await else {
            panic!("nothing else was sent")
        };
        let before = std::mem::replace(&mut last[message / 10], message % 10);
        assert_eq!(before + 1, message % 10, "lost or overtaken");
    }
}

/// Two futures send to one that reads, with room for one message, or for none. A failure: a message
/// is lost or overtaken; or a deadlock, as a sender is not told.
#[test]
fn senders_that_wait_for_room_are_told() {
    for room in [0, 1] {
        explore("senders wait for room", 2_000, move || {
            let scheduler = prompt_scheduler(2);
            let reader =
                scheduler.submission_with(|mut inbox| async move { read(&mut inbox).await });
            let reader = reader.mailbox(room).spawn().unwrap();
            let pid = reader.pid();
            let senders = [0, 1].map(|sender| {
                let handle = scheduler.handle();
                let sender = scheduler.spawn(async move {
                    for number in 1..=2 {
                        let message = Note::Number(10 * sender + number);
                        handle.send_when_room(pid, message).await.unwrap();
                    }
                });
                sender.unwrap()
            });
            senders.into_iter().for_each(|it| it.join().unwrap());
            reader.join().unwrap();
            scheduler.shutdown(FOR_EVER).unwrap();
        });
    }
}

/// The same, but a thread has the inbox, and reads beside the process, which only waits. A further
/// failure: nobody takes a turn for the sender.
#[test]
fn senders_are_told_of_what_another_thread_reads() {
    explore("senders wait for another thread", 2_000, || {
        let scheduler = prompt_scheduler(1);
        let (give, inboxes) = shuttle::sync::mpsc::channel();
        let process = scheduler.submission_with(|inbox| async move {
            give.send(inbox).unwrap();
            std::future::pending::<()>().await;
        });
        let process = process.mailbox(1).spawn().unwrap();
        let pid = process.pid();
        let mut inbox = inboxes.recv().unwrap();
        let reader = thread::spawn(move || {
            let mut read = 0;
            while read < 2 {
                match inbox.try_next() {
                    Some(_) => read += 1,
                    None => thread::yield_now(),
                }
            }
            inbox
        });
        let handle = scheduler.handle();
        let sender = scheduler.spawn(async move {
            for number in 0..2 {
                let sent = handle.send_when_room(pid, Note::Number(number));
                sent.await.unwrap();
            }
        });
        sender.unwrap().join().unwrap();
        drop(reader.join().unwrap());
        scheduler.terminate(pid).unwrap();
        assert!(process.join().is_err());
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// The process is terminated before, while, or after it gets the messages of waiting senders. A
/// failure: a sender is told nothing, or the process gets a message that also comes back.
#[test]
fn senders_that_wait_are_told_of_the_end() {
    explore("senders wait while the process ends", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let given = Arc::new(AtomicUsize::new(0));
        let process = {
            let given = Arc::clone(&given);
            scripted(&closed, move |_, events, out| {
                given.fetch_add(events.len(), Ordering::SeqCst);
                out.idle();
            })
        };
        let process = scheduler.submission(process, "run", ()).mailbox(0);
        let process = process.submit().unwrap();
        let pid = process.pid();
        let senders = [0, 1].map(|number| {
            let sent = scheduler.send_when_room(pid, Note::Number(number));
            scheduler.spawn(sent).unwrap()
        });
        scheduler.terminate(pid).unwrap();
        let came_back = senders.map(|sender| match sender.join().unwrap() {
            Ok(()) => 0,
            Err(error) => {
                assert_eq!(error.reason, Undelivered::NoSuchProcess);
                1
            }
        });
        assert!(process.join().is_err());
        // A message that a worker has taken may not reach a step any more.
        let came_back = came_back.iter().sum::<usize>();
        assert!(given.load(Ordering::SeqCst) + came_back <= 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Two threads send to a process that keeps the latest message. A failure: the last one does not
/// come, or a sender's messages come in the wrong order.
#[test]
fn the_latest_message_comes() {
    explore("the latest message comes", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let mut last = [0; 2];
        let process = scripted(&closed, move |_, events, out| {
            for event in events {
                let Event::Message(Note::Number(message)) = event else {
                    panic!("{event:?}")
                };
                let before = std::mem::replace(&mut last[message / 10], message % 10);
                assert!(before < message % 10, "{before} before {message}");
            }
            match last.contains(&3) {
                true => out.done(0),
                false => out.idle(),
            }
        });
        let process = scheduler.submission(process, "run", ());
        let process = process.mailbox_with(1, WhenFull::DropOldest);
        let process = process.submit().unwrap();
        let pid = process.pid();
        let senders = [0, 1].map(|sender| {
            let handle = scheduler.handle();
            thread::spawn(move || {
                for number in 1..=3 {
                    // The process is done after the first 3.
                    let _ = handle.send(pid, Note::Number(10 * sender + number));
                }
            })
        });
        senders.into_iter().for_each(|it| it.join().unwrap());
        assert_eq!(process.join().unwrap(), 0);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Two threads each send one message too many, while the process runs. A failure: it goes on, or
/// ends in another way.
#[test]
fn one_of_two_senders_ends_it() {
    explore("a full mailbox ends its process", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let process = scripted(&closed, |_, _, out| out.idle());
        let process = scheduler.submission(process, "run", ());
        let process = process.mailbox_with(0, WhenFull::End).submit().unwrap();
        let pid = process.pid();
        let senders = [0, 1].map(|number| {
            let handle = scheduler.handle();
            thread::spawn(move || handle.send(pid, Note::Number(number)).unwrap_err())
        });
        senders.into_iter().for_each(|it| drop(it.join().unwrap()));
        let Err(JoinError::Process(error)) = process.join() else {
            panic!("its mailbox was full")
        };
        let ProcessError::FunctionFailed(error) = error else {
            panic!("{error}");
        };
        assert_eq!(error.downcast_ref(), Some(&MailboxFull { limit: 0 }));
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(closed.count(), 1);
    });
}

/// A message is on its way to a process that ends; the next process gets its place. A failure: that
/// one gets the message.
#[test]
fn the_next_process_in_a_place_has_its_own_messages() {
    explore("a place for the latest has one owner", 5_000, || {
        let (scheduler, closed) = (prompt_scheduler(1), Closed::new());
        let submit = || {
            let process = scripted(&closed, |_, events, out| {
                for event in events {
                    match event {
                        Event::Message(Note::Number(2)) => out.done(2),
                        Event::Message(note) => panic!("{note:?} is another one's"),
                        other => panic!("{other:?}"),
                    }
                }
            });
            let process = scheduler.submission(process, "run", ());
            let process = process.mailbox_with(2, WhenFull::DropOldest);
            process.submit().unwrap()
        };
        let first = scripted(&closed, |_, _, _| {});
        let first = scheduler.submission(first, "run", ());
        let first = first
            .mailbox_with(2, WhenFull::DropOldest)
            .submit()
            .unwrap();
        let pid = first.pid();
        let sender = {
            let handle = scheduler.handle();
            thread::spawn(move || drop(handle.send(pid, Note::Number(1))))
        };
        scheduler.terminate(pid).unwrap();
        assert!(first.join().is_err());
        let second = submit();
        scheduler.send(second.pid(), Note::Number(2)).unwrap();
        assert_eq!(second.join().unwrap(), 2);
        sender.join().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
