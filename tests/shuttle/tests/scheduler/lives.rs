//! One life after another in the same slot, and stale PIDs.

use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, Numbers, prompt_scheduler, scripted, summing};
use filch_scheduler::Scheduler;

/// A process ends while somebody sends to it, and another moves in at once. A failure: the second
/// gets the message of the first, and its sum is wrong; or it waits for ever.
#[test]
fn a_stale_name_reaches_nobody() {
    explore("a stale PID is refused", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let first = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        let stale = first.pid();
        let sender = thread::spawn({
            let handle = scheduler.handle();
            move || [31, 32].map(|number| handle.send(stale, Note::Number(number)).is_ok())
        });
        assert!(matches!(first.join().unwrap(), 31 | 63));
        let second = scheduler.submit(summing(&closed, 1), "run", ()).unwrap();
        assert_ne!(second.pid(), stale);
        scheduler.send(second.pid(), Note::Number(1)).unwrap();
        assert_eq!(second.join().unwrap(), 1);
        assert!(sender.join().unwrap()[0], "the first message was taken");
        assert_eq!(closed.count(), 2);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A process submits a child and ends; somebody outside submits at the same time; all are joined. A
/// failure: a process was admitted and never ran.
#[test]
fn submissions_from_inside_and_outside() {
    explore("whoever is admitted runs", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let (give, take) = shuttle::sync::mpsc::channel();
        let parent = scripted(&closed, {
            let closed = closed.clone();
            move |context, _, out| {
                let child = scripted(&closed, |_, _, out| out.done(2));
                give.send(context.submit(child, "run", ()).unwrap())
                    .unwrap();
                out.done(1);
            }
        });
        let parent = scheduler.submit(parent, "run", ()).unwrap();
        let outside = thread::spawn({
            let (handle, closed) = (scheduler.handle(), closed.clone());
            move || {
                let process = scripted(&closed, |_, _, out| out.done(3));
                handle.submit(process, "run", ()).unwrap().join().unwrap()
            }
        });
        assert_eq!(parent.join().unwrap(), 1);
        assert_eq!(take.recv().unwrap().join().unwrap(), 2);
        assert_eq!(outside.join().unwrap(), 3);
        assert_eq!(closed.count(), 3);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// There is room for one process; the thread that has joined it submits the next. A failure: a
/// refusal, as the first still counted, or still had its place in the table, when its end was told.
#[test]
fn who_was_joined_has_left() {
    explore("a joined process has left", 2_000, || {
        let closed = Closed::new();
        let scheduler = Scheduler::<Numbers>::builder()
            .workers(2)
            .limit(1)
            .build()
            .unwrap();
        for number in 1..=2 {
            let process = scripted(&closed, move |_, _, out| out.done(number));
            let process = scheduler.submit(process, "run", ()).unwrap();
            assert_eq!(process.join().unwrap(), number);
            assert_eq!(closed.count(), number);
        }
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
