//! Links: the table at `Handle::link`, row by row, and chains of them.

use std::sync::{Arc, mpsc};

use crate::common::{
    Command, Scripted, Test, assert_terminated, closed_once, scheduler, scripted, start, summing,
    waiting,
};
use crate::monitors::listening;
use filch_scheduler::{Event, ExitReason, JoinError, Pid, ProcessError, ProcessHandle};

/// Returns the link's origin and reason with which the process ended.
#[track_caller]
fn linked(process: ProcessHandle<Test>) -> (Pid, ExitReason) {
    match process.join() {
        Err(JoinError::Process(ProcessError::Linked { origin, reason })) => {
            (origin, (*reason).clone())
        }
        other => panic!("{other:?}"),
    }
}

/// Fails on message 1, is done on message 0, and passes on the ends of those linked to it.
fn member(tell: &mpsc::Sender<(Pid, ExitReason)>) -> Scripted {
    let tell = tell.clone();
    scripted(move |_, events, out| {
        out.idle();
        for event in events {
            match event {
                Event::Message((_, 0)) => out.done(0),
                Event::Message(_) => return Err("broken".to_owned()),
                Event::Exited(exited) => {
                    assert_eq!(
                        exited.watch.other_than(exited.watch.other_than(exited.pid)),
                        exited.pid
                    );
                    tell.send((exited.pid, exited.reason)).unwrap();
                }
                _ => {}
            }
        }
        Ok(())
    })
}

#[test]
fn an_end_that_is_not_normal_ends_the_whole_chain() {
    let scheduler = scheduler(2);
    let (tell, _told) = mpsc::channel();
    for ring in [false, true] {
        let all: Vec<_> = (0..100)
            .map(|_| {
                let process = member(&tell);
                let closed = process.closed();
                (closed, scheduler.submit(process, "run", 0).unwrap())
            })
            .collect();
        for pair in all.windows(2) {
            scheduler.link(pair[0].1.pid(), pair[1].1.pid());
        }
        if ring {
            scheduler.link(all[99].1.pid(), all[0].1.pid());
        }
        let origin = all[50].1.pid();
        scheduler.send(origin, (0, 1)).unwrap();
        for (closed, process) in all {
            if process.pid() == origin {
                let error = process.join().unwrap_err();
                assert_eq!(error.to_string(), "the process failed: broken");
            } else {
                let reason = ExitReason::Failed("broken".into());
                assert_eq!(linked(process), (origin, reason), "the first of the chain");
            }
            assert!(closed_once(&closed));
        }
    }
    assert_eq!(scheduler.processes(), []);
}

#[test]
fn a_normal_end_ends_nobody() {
    let scheduler = scheduler(2);
    let (one, other) = (summing(1), summing(1));
    let one = scheduler.submit(one, "run", 0).unwrap();
    let other = scheduler.submit(other, "run", 0).unwrap();
    scheduler.link(one.pid(), other.pid());
    scheduler.send(one.pid(), (0, 1)).unwrap();
    assert_eq!(one.join().unwrap(), 1);
    scheduler.send(other.pid(), (0, 2)).unwrap();
    assert_eq!(other.join().unwrap(), 2);
}

#[test]
fn who_traps_exits_gets_both_kinds_as_events() {
    let scheduler = scheduler(2);
    let (tell, told) = mpsc::channel();
    let trapping = scheduler
        .submission(member(&tell), "run", 0)
        .trap_exits()
        .submit()
        .unwrap();
    for (message, reason) in [
        (0, ExitReason::Done),
        (1, ExitReason::Failed("broken".into())),
    ] {
        let other = scheduler.submit(member(&tell), "run", 0).unwrap();
        scheduler.link(other.pid(), trapping.pid());
        scheduler.send(other.pid(), (0, message)).unwrap();
        assert_eq!(told.recv().unwrap(), (other.pid(), reason));
    }
    let terminated = scheduler.submit(member(&tell), "run", 0).unwrap();
    scheduler.link(trapping.pid(), terminated.pid());
    scheduler.terminate(terminated.pid()).unwrap();
    assert_eq!(told.recv().unwrap().1, ExitReason::Terminated);
    // A termination is not an exit to be trapped.
    scheduler.terminate(trapping.pid()).unwrap();
    assert_terminated(trapping.join());
}

#[test]
fn a_link_to_one_that_is_gone() {
    let scheduler = scheduler(2);
    let gone = scheduler.submit(summing(0), "run", 0).unwrap();
    let pid = gone.pid();
    assert_eq!(gone.join().unwrap(), 0);

    let (tell, told) = mpsc::channel();
    let trapping = scheduler
        .submission(member(&tell), "run", 0)
        .trap_exits()
        .submit()
        .unwrap();
    scheduler.link(trapping.pid(), pid);
    assert_eq!(told.recv().unwrap(), (pid, ExitReason::NoSuchProcess));

    let other = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.link(pid, other.pid());
    assert_eq!(linked(other), (pid, ExitReason::NoSuchProcess));
}

#[test]
fn unlinked_and_linked_to_itself() {
    let scheduler = scheduler(2);
    let (tell, _told) = mpsc::channel();
    let one = scheduler.submit(member(&tell), "run", 0).unwrap();
    let other = scheduler.submit(summing(1), "run", 0).unwrap();
    let link = scheduler.link(one.pid(), other.pid());
    assert!(link.cancel());
    assert!(!link.cancel());
    scheduler.link(other.pid(), other.pid());
    scheduler.send(one.pid(), (0, 1)).unwrap();
    assert!(one.join().is_err());
    scheduler.send(other.pid(), (0, 3)).unwrap();
    assert_eq!(other.join().unwrap(), 3);
}

/// The end of the other is in the process's queue when it ends their link, or its monitor. A
/// failure: it ends by that, or is told of it.
#[test]
fn a_watch_that_is_ended_in_a_step_is_over_for_all_later_ones() {
    for (links, traps) in [(false, false), (true, false), (true, true)] {
        let scheduler = scheduler(2);
        let watched = scheduler.submit(waiting(), "run", 0).unwrap();
        let (listener, told) = listening();
        let listener = scheduler.submit(listener, "run", 0).unwrap();
        let (pid, other) = (watched.pid(), listener.pid());
        let mut asked = false;
        let process = scripted(move |context, events, out| {
            assert!(events.is_empty(), "{events:?}");
            if asked {
                out.done(1);
                return Ok(());
            }
            asked = true;
            let watch = if links {
                context.link(pid)
            } else {
                context.monitor(pid)
            };
            // Told second.
            context.handle().monitor(other, pid);
            context.terminate(pid).unwrap();
            told.recv().unwrap();
            assert!(!watch.cancel());
            out.go_on();
            Ok(())
        });
        let mut submission = scheduler.submission(process, "run", 0);
        if traps {
            submission = submission.trap_exits();
        }
        assert_eq!(submission.submit().unwrap().join().unwrap(), 1);
        assert!(watched.join().is_err());
    }
}

/// The worker looks into the queue of a process that waits for a command, as a link might end it.
/// The other items there are kept for the step with the completion.
#[test]
fn messages_are_kept_while_a_signal_is_looked_at() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let blocked = start(&scheduler, move |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
            return Ok(());
        }
        assert!(
            matches!(
                &events[..],
                [
                    Event::Message((0, 1)),
                    Event::Message((0, 2)),
                    Event::Completed { .. }
                ]
            ),
            "{events:?}"
        );
        out.done(1);
        Ok(())
    });
    let completion = completions.recv().unwrap();
    for value in [1, 2] {
        scheduler.send(blocked.pid(), (0, value)).unwrap();
        let normal = scheduler.submit(summing(1), "run", 0).unwrap();
        scheduler.link(normal.pid(), blocked.pid());
        scheduler.send(normal.pid(), (0, 0)).unwrap();
        assert_eq!(normal.join().unwrap(), 0);
    }
    completion.complete(1);
    assert_eq!(blocked.join().unwrap(), 1);
}

/// Kept messages are dropped with a process that ends by a signal.
#[test]
fn nothing_that_was_kept_stays_behind() {
    let scheduler = scheduler(1);
    let alive = Arc::new(());
    let (give, completions) = mpsc::channel();
    let inside = Arc::clone(&alive);
    let blocked = start(&scheduler, move |_, _, out| {
        let _ = &inside;
        out.yield_command(0, Command::Give(give.clone()));
        out.wait();
    });
    let completion = completions.recv().unwrap();
    scheduler.send(blocked.pid(), (0, 1)).unwrap();
    let (tell, _told) = mpsc::channel();
    let first = scheduler.submit(summing(0), "run", 0).unwrap();
    let first_pid = first.pid();
    scheduler.link(blocked.pid(), first_pid);
    assert_eq!(first.join().unwrap(), 0);
    let second = scheduler.submit(member(&tell), "run", 0).unwrap();
    scheduler.link(blocked.pid(), second.pid());
    let _ = scheduler.send(second.pid(), (0, 1));
    // By the second; or by the first, if that one had ended before it was linked.
    let (origin, _) = linked(blocked);
    assert!([first_pid, second.pid()].contains(&origin));
    assert_eq!(Arc::strong_count(&alive), 1);
    completion.complete(1);
}
