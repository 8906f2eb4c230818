//! Monitors: a watcher of a process hears of its end, once, with the reason, however early or
//! late it watches.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Command, Scripted, beginning, scheduler, scripted, start, summing, waiting};
use filch_actors::prelude::*;
use filch_scheduler::{Event, ExitReason, InitError, Pid, Watch};

type Told = (Pid, Watch, ExitReason);

/// Passes on every `Down` that it gets, and is done with 0 when it is cancelled.
pub(crate) fn listening() -> (Scripted, mpsc::Receiver<Told>) {
    let (tell, told) = mpsc::channel();
    let process = scripted(move |_, events, out| {
        out.idle();
        for event in events {
            match event {
                Event::Down(down) => tell.send((down.pid, down.watch, down.reason)).unwrap(),
                Event::Cancel(_) => out.done(0),
                _ => {}
            }
        }
    });
    (process, told)
}

/// Fails with the number in its message, in one way or another.
fn mortal() -> Scripted {
    scripted(|_, events, out| {
        out.idle();
        for event in events {
            match event {
                Event::Message((_, 0)) => out.done(0),
                Event::Message((_, 1)) => return Err("no more".to_owned()),
                Event::Message((_, 2)) => panic!("enough"),
                Event::Message((_, 3)) => out.wait(),
                _ => {}
            }
        }
        Ok(())
    })
}

#[test]
fn the_reason_is_told() {
    let scheduler = scheduler(2);
    let (watcher, told) = listening();
    let watcher = scheduler.submit(watcher, "run", 0).unwrap();
    for (message, expected) in [
        (0, ExitReason::Done),
        (1, ExitReason::Failed("no more".into())),
        (2, ExitReason::Panicked("enough".into())),
        (3, ExitReason::WaitsForNothing),
        (9, ExitReason::Terminated),
    ] {
        let watched = scheduler.submit(mortal(), "run", 0).unwrap();
        let pid = watched.pid();
        let monitor = scheduler.monitor(watcher.pid(), pid);
        assert_eq!((monitor.watcher(), monitor.watched()), (watcher.pid(), pid));
        if message == 9 {
            scheduler.terminate(pid).unwrap();
        } else {
            scheduler.send(pid, (0, message)).unwrap();
        }
        let (ended, by, reason) = told.recv().unwrap();
        assert_eq!((ended, by), (pid, monitor.clone()));
        // A panic is told with its process, too.
        let is_it = reason.to_string().starts_with(&expected.to_string());
        assert!(is_it && (reason == expected || message == 2), "{reason}");
        assert!(!monitor.cancel(), "it has been told");
        // It is over for all that ask now, and how is forgotten.
        let late = scheduler.monitor(watcher.pid(), pid);
        assert_eq!(told.recv().unwrap(), (pid, late, ExitReason::NoSuchProcess));
        let _ = watched.join();
    }
    scheduler.shutdown(Duration::from_secs(30)).unwrap();
    assert_eq!(watcher.join().unwrap(), 0);
    assert!(told.try_recv().is_err(), "each was told once");
}

#[test]
fn a_stranger_is_no_process() {
    let (scheduler, other) = (scheduler(1), scheduler(1));
    let (watcher, told) = listening();
    let watcher = scheduler.submit(watcher, "run", 0).unwrap();
    let stranger = other.submit(waiting(), "run", 0).unwrap();
    let monitor = scheduler.monitor(watcher.pid(), stranger.pid());
    let expected = (stranger.pid(), monitor, ExitReason::NoSuchProcess);
    assert_eq!(told.recv().unwrap(), expected);
}

#[test]
fn being_watched_costs_no_step() {
    let scheduler = scheduler(1);
    let (told, idle) = mpsc::channel();
    let watched = start(&scheduler, move |_, events, out| {
        told.send(events.len()).unwrap();
        if events.is_empty() {
            out.idle();
        } else {
            out.done(0);
        }
    });
    assert_eq!(idle.recv().unwrap(), 0);
    let (watcher, heard) = listening();
    let watcher = scheduler.submit(watcher, "run", 0).unwrap();
    let monitors: Vec<_> = (0..100)
        .map(|_| scheduler.monitor(watcher.pid(), watched.pid()))
        .collect();
    assert!(monitors[1..].iter().all(Watch::cancel));
    scheduler.send(watched.pid(), (0, 0)).unwrap();
    assert_eq!(idle.recv().unwrap(), 1, "one step, with the message alone");
    assert_eq!(heard.recv().unwrap().1, monitors[0]);
    drop(scheduler);
    assert!(heard.recv().is_err(), "the others were ended before");
}

/// The watcher waits for a command: the event comes together with its completion.
#[test]
fn a_down_does_not_end_a_wait_for_commands() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let watched = scheduler.submit(mortal(), "run", 0).unwrap();
    let pid = watched.pid();
    let watcher = start(&scheduler, move |context, events, out| {
        if events.is_empty() {
            context.monitor(pid);
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
            return Ok(());
        }
        assert!(
            matches!(&events[..], [Event::Down(_), Event::Completed { .. }]),
            "{events:?}"
        );
        out.done(1);
        Ok(())
    });
    let completion = completions.recv().unwrap();
    scheduler.send(pid, (0, 0)).unwrap();
    assert_eq!(watched.join().unwrap(), 0);
    completion.complete(1);
    assert_eq!(watcher.join().unwrap(), 1);
}

#[test]
fn who_watches_itself_or_is_gone_is_told_nothing() {
    let scheduler = scheduler(2);
    let process = scripted(|context, _, out| {
        context.monitor(context.pid());
        out.done(1);
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
    let watched = scheduler.submit(mortal(), "run", 0).unwrap();
    let watcher = scheduler.submit(summing(0), "run", 0).unwrap();
    let gone = watcher.pid();
    assert_eq!(watcher.join().unwrap(), 0);
    scheduler.monitor(gone, watched.pid());
    scheduler.send(watched.pid(), (0, 0)).unwrap();
    assert_eq!(watched.join().unwrap(), 0);
    assert_eq!(scheduler.processes().len(), 0);
}

/// A process that is watched from its own `init`, which refuses.
#[test]
fn one_that_never_starts() {
    let scheduler = scheduler(1);
    let (watcher, told) = listening();
    let watcher = scheduler.submit(watcher, "run", 0).unwrap();
    let pid = watcher.pid();
    let unwilling = beginning(move |context| {
        context.handle().monitor(pid, context.pid());
        Err(InitError::Failed("not today".to_owned()))
    });
    assert!(scheduler.submit(unwilling, "run", 0).is_err());
    let (_, _, reason) = told.recv().unwrap();
    assert_eq!(
        reason,
        ExitReason::NotStarted("init failed: not today".into())
    );
}
