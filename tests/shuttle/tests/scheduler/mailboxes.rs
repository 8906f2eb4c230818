//! Mailboxes without room: senders wait, messages are dropped, processes end.

use filch_actors::WhenFull;
use filch_actors::prelude::*;
use filch_scheduler::{Event, Undelivered};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, prompt_scheduler, scripted};

/// A thread has the inbox, and reads beside the process, which only waits. A failure: nobody takes
/// a turn for the sender.
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
