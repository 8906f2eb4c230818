//! Steps that get a part of the waiting events, while other threads send, terminate, upgrade,
//! complete and shut down.

use std::time::Duration;

use filch_scheduler::{Completion, Event, JoinError, ProcessError, Scheduler};
use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, Numbers, scripted, summing};

/// Makes a scheduler with steps of at most `events` events, and other processes in between.
fn scheduler(
    workers: usize,
    events: usize,
    handle: impl Fn(usize, Completion<Numbers>) + Send + Sync + 'static,
) -> Scheduler<Numbers> {
    Scheduler::builder()
        .workers(workers)
        .events_per_step(events)
        .slice(Duration::ZERO)
        .handler(handle)
        .build()
        .unwrap()
}

fn prompt(workers: usize, events: usize) -> Scheduler<Numbers> {
    scheduler(workers, events, |number, completion| {
        completion.complete(number);
    })
}

/// Two threads send three messages each; each step gets one or two. A failure: a deadlock in
/// `join`, as the process was let go with a message in its queue; or a message that is lost or
/// overtaken at the end of a share.
fn two_senders(workers: usize, share: usize) {
    explore("parts lose nothing", 400, move || {
        let (scheduler, closed) = (prompt(workers, share), Closed::new());
        let process = scheduler.submit(summing(&closed, 6), "run", ()).unwrap();
        let sender = |number: usize| {
            let (handle, pid) = (scheduler.handle(), process.pid());
            thread::spawn(move || {
                for message in 1..=3 {
                    handle
                        .send(pid, Note::Number(10 * number + message))
                        .unwrap();
                }
            })
        };
        let senders = [sender(0), sender(1)];
        assert_eq!(process.join().unwrap(), 6 + 36);
        for sender in senders {
            sender.join().unwrap();
        }
        assert_eq!(closed.count(), 1);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

#[test]
fn two_senders_and_steps_of_one_event() {
    two_senders(1, 1);
    two_senders(2, 1);
}

#[test]
fn two_senders_and_steps_of_two_events() {
    two_senders(2, 2);
}

/// A process counts its steps, and is terminated by a thread that has sent it a backlog. A failure:
/// a step began after the termination had returned, except the one under way; or a deadlock in
/// `join`.
#[test]
fn a_termination_beside_a_backlog() {
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicUsize, Ordering};

    for share in [1, 2] {
        explore("a termination overtakes a backlog", 400, move || {
            let (scheduler, closed) = (prompt(2, share), Closed::new());
            let steps = Arc::new(AtomicUsize::new(0));
            let process = scripted(&closed, {
                let steps = Arc::clone(&steps);
                move |_, _, out| {
                    steps.fetch_add(1, Ordering::SeqCst);
                    out.idle();
                }
            });
            let process = scheduler.submit(process, "run", ()).unwrap();
            for number in 0..4 {
                scheduler.send(process.pid(), Note::Number(number)).unwrap();
            }
            scheduler.terminate(process.pid()).unwrap();
            let so_far = steps.load(Ordering::SeqCst);
            match process.join() {
                Err(JoinError::Process(ProcessError::Terminated)) => {}
                other => panic!("{other:?}"),
            }
            assert!(steps.load(Ordering::SeqCst) <= so_far + 1);
            assert_eq!(closed.count(), 1);
            scheduler.shutdown(FOR_EVER).unwrap();
        });
    }
}

/// A backlog, and the shutdown: with patience, the cancel comes behind the backlog; without, the
/// process is closed at once. A failure: a deadlock in `shutdown`, or a process that is closed
/// twice, or not at all.
#[test]
fn a_shutdown_beside_a_backlog() {
    for patience in [Duration::ZERO, FOR_EVER] {
        explore("a shutdown and a backlog", 400, move || {
            let (scheduler, closed) = (prompt(2, 1), Closed::new());
            let mut sum = 0;
            let process = scripted(&closed, move |_, events, out| {
                assert!(events.len() <= 1);
                for event in events {
                    match event {
                        Event::Message(Note::Number(number)) => sum += number,
                        Event::Cancel(_) => out.done(sum),
                        event => panic!("{event:?}"),
                    }
                }
            });
            let process = scheduler.submit(process, "run", ()).unwrap();
            for number in [1, 2, 3] {
                scheduler.send(process.pid(), Note::Number(number)).unwrap();
            }
            scheduler.shutdown(patience).unwrap();
            match process.join() {
                Ok(sum) => assert_eq!(sum, 6),
                Err(JoinError::Process(ProcessError::ShutDown)) => assert!(patience.is_zero()),
                other => panic!("{other:?}"),
            }
            assert_eq!(closed.count(), 1);
        });
    }
}

/// A process yields a command in its first step, waits for it, and gets messages all the while. A
/// failure: a deadlock in `join`, as a turn took the completion's flag, but its share ended before
/// the completion; or a step in the wait without a completion.
#[test]
fn a_completion_beside_a_backlog() {
    for share in [1, 2] {
        explore("a completion behind a share", 400, move || {
            let scheduler = scheduler(2, share, |number, completion| {
                thread::spawn(move || completion.complete(number));
            });
            let closed = Closed::new();
            let (mut asked, mut next) = (false, 1);
            let process = scripted(&closed, move |_, events, out| {
                assert!(events.len() <= share);
                let mut completed = false;
                for event in events {
                    match event {
                        Event::Message(Note::Number(number)) => {
                            assert_eq!(number, next);
                            next += 1;
                        }
                        Event::Completed { .. } => completed = true,
                        event => panic!("{event:?}"),
                    }
                }
                assert_eq!(completed, std::mem::take(&mut asked));
                if next > 3 {
                    out.done(next);
                } else if !completed {
                    asked = true;
                    out.yield_command(0, 1);
                    out.wait();
                }
            });
            let process = scheduler.submit(process, "run", ()).unwrap();
            for number in 1..=3 {
                scheduler.send(process.pid(), Note::Number(number)).unwrap();
            }
            assert_eq!(process.join().unwrap(), 4);
            scheduler.shutdown(FOR_EVER).unwrap();
            assert_eq!(closed.count(), 1);
        });
    }
}

/// A thread sends messages and then upgrades the process; the new version gets all that the old one
/// did not get. A failure: a message that is lost, given twice or out of order; or a step of the
/// old version that began after the upgrade had returned, except the one under way.
#[test]
fn an_upgrade_beside_a_backlog() {
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicUsize, Ordering};

    explore("an upgrade overtakes a backlog", 400, || {
        let (scheduler, closed) = (prompt(2, 1), Closed::new());
        let steps = Arc::new(AtomicUsize::new(0));
        let next = Arc::new(AtomicUsize::new(0));
        let version = |steps: Option<Arc<AtomicUsize>>| {
            let next = Arc::clone(&next);
            scripted(&closed, move |_, events, out| {
                if let Some(steps) = &steps {
                    steps.fetch_add(1, Ordering::SeqCst);
                }
                for event in events {
                    let Event::Message(Note::Number(number)) = event else {
                        panic!("{event:?}");
                    };
                    assert_eq!(next.fetch_add(1, Ordering::SeqCst), number);
                }
                if steps.is_none() && next.load(Ordering::SeqCst) == 4 {
                    out.done(4);
                }
            })
        };
        let old = version(Some(Arc::clone(&steps)));
        let process = scheduler.submit(old, "run", ()).unwrap();
        let pid = process.pid();
        for number in 0..4 {
            scheduler.send(pid, Note::Number(number)).unwrap();
        }
        let new = Box::new(version(None));
        scheduler.upgrade(pid, new, "run", ()).unwrap();
        let so_far = steps.load(Ordering::SeqCst);
        assert_eq!(process.join().unwrap(), 4);
        assert!(steps.load(Ordering::SeqCst) <= so_far + 1);
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
