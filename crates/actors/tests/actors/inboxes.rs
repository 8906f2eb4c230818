//! Processes that are async functions, with an inbox.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{Activity, Event, ExitReason, JoinError, ProcessError, Undelivered};

use crate::common::{Test, assert_terminated, scheduler, scripted, summing, waiting};
use crate::timers::{SECOND, fake};

/// The value of a message.
fn value(event: Event<Test>) -> u64 {
    match event {
        Event::Message((_, value)) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_reads_its_messages_in_order_and_answers() {
    const MESSAGES: u64 = 10_000;
    let scheduler = scheduler(2);
    let echo = scheduler.spawn_with(|mut inbox| async move {
        loop {
            match inbox.next().await {
                Event::Message((_, value)) => {
                    let to = inbox.handle().whereis("asker").unwrap();
                    inbox.send(to, (0, value)).unwrap();
                }
                Event::Cancel(cancel) => return cancel.reason().to_owned(),
                other => panic!("{other:?}"),
            }
        }
    });
    let echo = echo.unwrap();
    let asker = scheduler
        .submission_with(|mut inbox| async move {
            for expected in 0..MESSAGES {
                assert_eq!(value(inbox.next().await), expected);
            }
        })
        .name("asker")
        .spawn()
        .unwrap();
    for value in 0..MESSAGES {
        scheduler.send(echo.pid(), (0, value)).unwrap();
    }
    asker.join().unwrap();
    scheduler.cancel(echo.pid(), "that is all").unwrap();
    assert_eq!(echo.join().unwrap(), "that is all");
}

#[test]
fn it_hears_of_the_ends_of_others_and_of_the_shutdown() {
    let scheduler = scheduler(2);
    let (tell, told) = mpsc::channel();
    let watcher = scheduler
        .submission_with(move |mut inbox| async move {
            loop {
                match inbox.next().await {
                    Event::Down(down) => tell.send(("down", down.pid)).unwrap(),
                    Event::Exited(exited) => tell.send(("exited", exited.pid)).unwrap(),
                    Event::Cancel(cancel) => return cancel.is_shutdown(),
                    other => panic!("{other:?}"),
                }
            }
        })
        .trap_exits()
        .spawn()
        .unwrap();
    let watched = scheduler.submission(summing(0), "run", 0);
    let watched = watched.monitored_by(watcher.pid()).submit().unwrap();
    assert_eq!(told.recv().unwrap(), ("down", watched.pid()));
    let linked = scripted(|_, _, _| Err("oh".to_owned()));
    let linked = scheduler.submission(linked, "run", 0);
    let linked = linked.linked_to(watcher.pid()).submit().unwrap();
    assert_eq!(told.recv().unwrap(), ("exited", linked.pid()));
    let report = scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!(report.aborted, 0);
    assert!(watcher.join().unwrap());
}

/// Each of its sources wakes it, and unread events are not lost.
#[test]
fn it_awaits_other_things_beside_its_inbox() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (tell, told) = mpsc::channel();
    let process = scheduler.spawn_with(|mut inbox| async move {
        let mut sleep = Box::pin(timers.sleep(SECOND));
        for _ in 0..2 {
            let first = std::future::poll_fn(|context| {
                if let Poll::Ready(event) = inbox.poll_next(context) {
                    return Poll::Ready(Some(event));
                }
                sleep.as_mut().poll(context).map(|_| None)
            });
            tell.send(first.await.map(value)).unwrap();
        }
        // Read after it has come.
        value(inbox.next().await)
    });
    let process = process.unwrap();
    scheduler.send(process.pid(), (0, 1)).unwrap();
    assert_eq!(told.recv().unwrap(), Some(1));
    clock.block_until(1);
    clock.advance(SECOND);
    assert_eq!(told.recv().unwrap(), None);
    scheduler.send(process.pid(), (0, 2)).unwrap();
    assert_eq!(process.join().unwrap(), 2);
}

/// A message takes its room until it has been read, and not until it has been put into the inbox.
#[test]
fn its_mailbox_is_limited_exactly() {
    let scheduler = scheduler(2);
    let (go, gone) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let process = scheduler
        .submission_with(move |mut inbox| async move {
            loop {
                tell.send(()).unwrap();
                inbox.handle().blocking(|| gone.recv()).unwrap();
                match inbox.try_next() {
                    Some(Event::Message(_)) => {}
                    Some(Event::Cancel(_)) => return,
                    None => yield_once().await,
                    Some(other) => panic!("{other:?}"),
                }
            }
        })
        .mailbox(2)
        .spawn()
        .unwrap();
    let send = || scheduler.send(process.pid(), (0, 0));
    let full = |sent: Result<(), filch_scheduler::SendError<Test>>| {
        matches!(sent.unwrap_err().reason, Undelivered::Full { limit: 2 })
    };
    told.recv().unwrap();
    send().unwrap();
    send().unwrap();
    assert!(full(send()));
    // Into the inbox, which is not read.
    go.send(()).unwrap();
    told.recv().unwrap();
    assert!(full(send()));
    // One is read.
    go.send(()).unwrap();
    told.recv().unwrap();
    send().unwrap();
    assert!(full(send()));
    drop(go);
    assert!(process.join().is_err(), "it has panicked");
}

/// Yields once.
async fn yield_once() {
    let mut over = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn messages_that_nobody_reads_any_more_leave_their_room() {
    let scheduler = scheduler(2);
    let (tell, told) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    let (clock, timers) = fake();
    let process = scheduler
        .submission_with(move |mut inbox| async move {
            inbox.handle().blocking(|| gone.recv()).unwrap();
            assert_eq!(value(inbox.next().await), 0);
            // Two are in it.
            drop(inbox);
            tell.send(()).unwrap();
            timers.sleep(SECOND).await
        })
        .mailbox(3)
        .spawn()
        .unwrap();
    for value in 0..3 {
        scheduler.send(process.pid(), (0, value)).unwrap();
    }
    go.send(()).unwrap();
    told.recv().unwrap();
    clock.block_until(1);
    for _ in 0..100 {
        scheduler.wait_for_standstill().unwrap();
        for _ in 0..3 {
            scheduler.send(process.pid(), (0, 1)).unwrap();
        }
    }
    clock.advance(SECOND);
    process.join().unwrap().unwrap();
}

#[test]
fn one_that_waits_for_an_event_is_idle() {
    let scheduler = scheduler(1);
    let process = scheduler.spawn_with(|mut inbox| async move { value(inbox.next().await) });
    let process = process.unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    assert_eq!(standstill.processes[0].activity, Activity::Idle);
    scheduler.send(process.pid(), (0, 9)).unwrap();
    assert_eq!(process.join().unwrap(), 9);
}

#[test]
fn it_is_dropped_where_it_waits_if_it_is_terminated() {
    let scheduler = scheduler(1);
    let (tell, told) = mpsc::channel::<()>();
    let process = scheduler.spawn_with(|mut inbox| async move {
        let _tell = tell;
        inbox.next().await
    });
    let process = process.unwrap();
    scheduler.terminate(process.pid()).unwrap();
    assert!(told.recv().is_err());
    assert_terminated(process.join());
}

/// An inbox that is given away still gets the events, and wakes its reader there.
#[test]
fn an_inbox_that_is_read_elsewhere_wakes_its_reader() {
    let scheduler = scheduler(2);
    let (give, given) = mpsc::channel();
    let (clock, timers) = fake();
    let owner = scheduler.spawn_with(move |inbox| async move {
        give.send(inbox).unwrap();
        timers.sleep(SECOND).await
    });
    let owner = owner.unwrap();
    let mut inbox = given.recv().unwrap();
    let reader = scheduler.spawn(async move {
        let first = value(inbox.next().await);
        first + value(inbox.next().await)
    });
    let reader = reader.unwrap();
    scheduler.send(owner.pid(), (0, 1)).unwrap();
    scheduler.wait_for_standstill().unwrap();
    scheduler.send(owner.pid(), (0, 2)).unwrap();
    assert_eq!(reader.join().unwrap(), 3);
    clock.block_until(1);
    clock.advance(SECOND);
    owner.join().unwrap().unwrap();
}

/// A failure: one is taken for the owner, whose waker was at the same address of the same stack.
#[test]
fn of_two_that_exchange_their_inboxes_one_wakes_the_other() {
    let scheduler = scheduler(1);
    let inboxes = Arc::new([(); 2].map(|()| Mutex::new(None)));
    let [one, other] = [0, 1].map(|own| {
        let inboxes = Arc::clone(&inboxes);
        let exchanging = scheduler.spawn_with(move |inbox| async move {
            *inboxes[own].lock().unwrap() = Some(inbox);
            loop {
                let given = inboxes[1 - own].lock().unwrap().take();
                match given {
                    Some(mut inbox) => break value(inbox.next().await),
                    None => yield_once().await,
                }
            }
        });
        exchanging.unwrap()
    });
    scheduler.wait_for_standstill().unwrap();
    scheduler.send(one.pid(), (0, 7)).unwrap();
    scheduler.wait_for_standstill().unwrap();
    assert!(other.has_ended(), "it was not woken");
    assert_eq!(other.join().unwrap(), 7);
    scheduler.terminate(one.pid()).unwrap();
    assert_terminated(one.join());
}

#[test]
fn an_upgrade_takes_its_place_and_its_messages() {
    let scheduler = scheduler(1);
    let process = scheduler
        .submission_with(|mut inbox| async move { inbox.next().await })
        .mailbox(2)
        .spawn()
        .unwrap();
    let pid = process.pid();
    scheduler.upgrade(pid, summing(3), "run", 0).unwrap();
    for value in 1..=3 {
        scheduler.wait_for_standstill().unwrap();
        scheduler.send(pid, (0, value)).unwrap();
    }
    assert_terminated(process.join());
}

#[test]
fn a_function_that_panics_before_its_future_is_there_leaves_nothing() {
    let scheduler = scheduler(1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let submission = scheduler.submission_with(|_| -> std::future::Ready<()> { panic!("oh") });
        drop(submission.name("one").spawn());
    }));
    assert!(panicked.is_err());
    assert_eq!((scheduler.live(), scheduler.whereis("one")), (0, None));
}

/// The error with which a function fails.
#[derive(Debug, PartialEq, Eq)]
struct OutOf(&'static str);

impl fmt::Display for OutOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "out of {}", self.0)
    }
}

impl Error for OutOf {}

#[test]
fn a_function_that_fails_tells_its_handle_what_and_others_why() {
    let scheduler = scheduler(1);
    let watcher = scheduler.spawn_with(|mut inbox| async move { inbox.next().await });
    let watcher = watcher.unwrap();
    let linked = scheduler.submit(waiting(), "run", 0).unwrap();
    let output = Arc::new(());
    let returned = Arc::clone(&output);
    let failing = scheduler
        .submission_with(|inbox| async move {
            inbox.fail("the last one counts");
            inbox.fail(OutOf("paper"));
            returned
        })
        .monitored_by(watcher.pid())
        .linked_to(linked.pid())
        .spawn()
        .unwrap();
    let pid = failing.pid();
    let error = failing.join().unwrap_err();
    assert_eq!(error.to_string(), "the process failed: out of paper");
    let JoinError::Process(error) = error else {
        panic!("{error}");
    };
    let source = error.source().and_then(|error| error.downcast_ref());
    assert_eq!(source, Some(&OutOf("paper")));
    assert_eq!(
        Arc::strong_count(&output),
        1,
        "what it has returned is dropped"
    );
    let reason = ExitReason::Failed("out of paper".into());
    let Ok(Event::Down(down)) = watcher.join() else {
        panic!("it watches");
    };
    assert_eq!((down.pid, &down.reason), (pid, &reason));
    let Err(JoinError::Process(ProcessError::Linked {
        origin,
        reason: why,
    })) = linked.join()
    else {
        panic!("it is linked");
    };
    assert_eq!((origin, &*why), (pid, &reason));
    let failed: u64 = scheduler
        .stats()
        .workers
        .iter()
        .map(|worker| worker.failed)
        .sum();
    assert_eq!(failed, 2);
}

#[test]
fn a_function_fails_when_it_returns_and_not_before() {
    let scheduler = scheduler(1);
    let failing = scheduler.spawn_with(|mut inbox| async move {
        inbox.fail(OutOf("ink"));
        inbox.next().await
    });
    let failing = failing.unwrap();
    scheduler.wait_for_standstill().unwrap();
    assert!(!failing.has_ended());
    failing.abort();
    assert_terminated(failing.join());
}
