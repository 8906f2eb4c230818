//! Monitors and links against the ends of their processes.

use shuttle::sync::{Arc, Mutex, mpsc};
use shuttle::thread;
use shuttle_tests::explore;

use super::{
    Closed, FOR_EVER, Note, Numbers, SlowToDrop, prompt_scheduler, scheduler, scripted, summing,
};
use filch_scheduler::{
    Completion, Event, ExitReason, JoinError, ProcessError, ProcessHandle, Scheduler,
};

/// Starts a process that passes on the reason of each `Down`, and is done with their number when it
/// is cancelled.
fn listening(
    scheduler: &Scheduler<Numbers>,
    closed: &Closed,
) -> (ProcessHandle<Numbers>, mpsc::Receiver<ExitReason>) {
    let (tell, told) = mpsc::channel();
    let mut heard = 0;
    let process = scripted(closed, move |_, events, out| {
        out.idle();
        for event in events {
            match event {
                Event::Down(down) => {
                    heard += 1;
                    tell.send(down.reason).unwrap();
                }
                Event::Cancel(_) => out.done(heard),
                event => panic!("{event:?}"),
            }
        }
    });
    (scheduler.submit(process, "run", ()).unwrap(), told)
}

/// Ends the watcher, and returns how often it was told.
fn heard(scheduler: Scheduler<Numbers>, watcher: ProcessHandle<Numbers>) -> usize {
    scheduler.shutdown(FOR_EVER).unwrap();
    watcher.join().unwrap()
}

/// A process ends by a message, or is terminated, while it is monitored. A failure: a deadlock in
/// `recv`, as the end overlooked the watch; or the same end is told twice.
#[test]
fn a_monitor_races_with_the_end() {
    explore("each monitor is told of once", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let (watcher, told) = listening(&scheduler, &closed);
        let watched = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let pid = watched.pid();
        let ending = thread::spawn({
            let handle = scheduler.handle();
            move || handle.send(pid, Note::Number(1)).unwrap()
        });
        scheduler.monitor(watcher.pid(), pid);
        let reason = told.recv().unwrap();
        assert!(matches!(
            reason,
            ExitReason::Done | ExitReason::NoSuchProcess
        ));
        ending.join().unwrap();
        assert_eq!(watched.join().unwrap(), 1);
        assert_eq!(heard(scheduler, watcher), 1, "told once");
        assert_eq!(closed.count(), 2);
    });
}

/// The same, while a completion is held outside: the slot is not cleaned before that is dropped, so
/// a watcher that depended on the cleaning would never be told.
#[test]
fn a_monitor_of_one_whose_slot_is_pinned() {
    explore("the end answers, not the cleaning", 1_500, || {
        let held: Arc<Mutex<Option<Completion<Numbers>>>> = Arc::new(Mutex::new(None));
        let scheduler = scheduler(2, {
            let held = Arc::clone(&held);
            move |_, completion| *held.lock().unwrap() = Some(completion)
        });
        let closed = Closed::new();
        let (watcher, told) = listening(&scheduler, &closed);
        let watched = scripted(&closed, |_, _, out| {
            out.yield_command(0, 0);
            out.done(3);
        });
        let watched = scheduler.submit(watched, "run", ()).unwrap();
        scheduler.monitor(watcher.pid(), watched.pid());
        told.recv().unwrap();
        assert_eq!(watched.join().unwrap(), 3);
        assert_eq!(heard(scheduler, watcher), 1);
        drop(held.lock().unwrap().take());
    });
}

/// A process is monitored while its `init` refuses, and while a slow message is dropped with it. A
/// failure: a deadlock in `recv`, as neither the submitter nor the watcher has seen that it is
/// over.
#[test]
fn a_monitor_races_with_an_init_that_refuses() {
    explore("a refused process is told of too", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(1), Closed::new());
        let (watcher, told) = listening(&scheduler, &closed);
        let (tell, pid) = mpsc::channel();
        let refusing = scripted(&closed, |_, _, _| unreachable!("it never starts"));
        let refusing = refusing.that_begins(move |pid| {
            tell.send(pid).unwrap();
            Err("no".to_owned())
        });
        let submitter = thread::spawn({
            let handle = scheduler.handle();
            move || assert!(handle.submit(refusing, "run", ()).is_err())
        });
        let pid = pid.recv().unwrap();
        let _ = scheduler.send(pid, Note::Slow(SlowToDrop));
        scheduler.monitor(watcher.pid(), pid);
        told.recv().unwrap();
        submitter.join().unwrap();
        assert_eq!(heard(scheduler, watcher), 1);
    });
}

/// A process ends at once, and is monitored meanwhile: the watch is on its way into the queue when
/// that is closed and emptied, which takes its time. A failure: a deadlock in `recv`, as the last
/// drain passed over an unfinished push, and the state did not refuse the wake-up that followed.
#[test]
fn a_monitor_races_with_the_last_drain() {
    explore("the last drain is after the last edge", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let (watcher, told) = listening(&scheduler, &closed);
        let watched = scripted(&closed, |context, _, out| {
            let slow = Note::Slow(SlowToDrop);
            context.send(context.pid(), slow).unwrap();
            out.done(3);
        });
        let watched = scheduler.submit(watched, "run", ()).unwrap();
        scheduler.monitor(watcher.pid(), watched.pid());
        told.recv().unwrap();
        assert_eq!(watched.join().unwrap(), 3);
        assert_eq!(heard(scheduler, watcher), 1);
    });
}

/// A watched process ends while its monitor is ended. A failure: an event comes although
/// `cancel` was in time.
#[test]
fn a_demonitor_races_with_the_end() {
    explore("ended in time, not told of", 1_500, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let (watcher, _told) = listening(&scheduler, &closed);
        let watched = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let monitor = scheduler.monitor(watcher.pid(), watched.pid());
        scheduler.send(watched.pid(), Note::Number(1)).unwrap();
        let in_time = monitor.cancel();
        assert_eq!(watched.join().unwrap(), 1);
        assert!(
            heard(scheduler, watcher) == 0 || !in_time,
            "told all the same"
        );
    });
}

/// Two processes are linked while one is terminated. A failure: a deadlock in `join`, as the other
/// was never told; or one of them closed twice.
#[test]
fn a_link_races_with_the_end() {
    explore("who is linked ends too", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let one = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let other = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let pid = one.pid();
        let terminator = thread::spawn({
            let handle = scheduler.handle();
            move || handle.terminate(pid).unwrap()
        });
        scheduler.link(other.pid(), pid);
        terminator.join().unwrap();
        assert!(matches!(
            one.join(),
            Err(JoinError::Process(ProcessError::Terminated))
        ));
        match other.join() {
            Err(JoinError::Process(ProcessError::Linked { origin, reason })) => {
                assert_eq!(origin, pid);
                assert!(matches!(
                    *reason,
                    ExitReason::Terminated | ExitReason::NoSuchProcess
                ));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Both ends of a link are terminated at once. A failure: one of them is closed twice, or a
/// shutdown never returns.
#[test]
fn both_ends_of_a_link_end() {
    explore("a link breaks once", 1_500, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let [one, other] =
            [0, 1].map(|_| scheduler.submit(summing(&closed, 1), "run", ()).unwrap());
        scheduler.link(one.pid(), other.pid());
        let terminator = thread::spawn({
            let (handle, pid) = (scheduler.handle(), one.pid());
            move || {
                let _ = handle.terminate(pid);
            }
        });
        let _ = scheduler.terminate(other.pid());
        terminator.join().unwrap();
        assert!(one.join().is_err() && other.join().is_err());
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
