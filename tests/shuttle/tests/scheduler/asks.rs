//! Processes that call each other, async functions that read their inboxes, and calls at the end of
//! a process, against ends of all kinds.

use filch_actors::CallError;
use filch_actors::prelude::*;
use filch_scheduler::{Context, Event, ExitReason, Pid, StepOutput};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, Numbers, Scripted, prompt_scheduler, scripted};

/// The value of an answer that did not come.
const NONE: usize = 1_000;

fn call(context: &Context<'_, Numbers>, out: &mut StepOutput<Numbers>, tag: u64, to: Pid) {
    let ask = |caller| Note::Ask(4, caller);
    out.call(context, tag, to, ask, |answer| match answer {
        Ok(answer) => Ok(answer),
        Err(CallError::Abandoned | CallError::Send(_)) => Ok(NONE),
        Err(error) => panic!("{error}"),
    });
}

/// Makes two calls at once, waits for both as for commands, and ends with the answers' sum.
fn calling(closed: &Closed, to: Pid) -> Scripted {
    let (mut answers, mut begun) = ([None; 2], false);
    scripted(closed, move |context, events, out| {
        if !std::mem::replace(&mut begun, true) {
            call(context, out, 0, to);
            call(context, out, 1, to);
        }
        for event in events {
            let Event::Completed { tag, result } = event else {
                panic!("{event:?}")
            };
            let twice = answers[tag as usize].replace(result.unwrap());
            assert!(twice.is_none(), "a call was answered twice");
        }
        match answers {
            [Some(first), Some(second)] => out.done(first + second),
            _ => out.wait(),
        }
    })
}

/// Answers, until it is cancelled.
fn answering(closed: &Closed) -> Scripted {
    scripted(closed, |_, events, out| {
        for event in events {
            match event {
                Event::Message(Note::Ask(number, caller)) => out.answer(caller, number + 1),
                _ => out.done(0),
            }
        }
    })
}

/// The callee is terminated before, between, or after the two answers. A failure: a call gets two
/// answers, or none: then the caller waits for ever.
#[test]
fn each_call_has_one_answer_while_the_callee_ends() {
    explore("one answer to each call", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let callee = scheduler.submit(answering(&closed), "run", ()).unwrap();
        let caller = calling(&closed, callee.pid());
        let caller = scheduler.submit(caller, "run", ()).unwrap();
        scheduler.terminate(callee.pid()).unwrap();
        let sum = caller.join().unwrap();
        assert!([10, NONE + 5, 2 * NONE].contains(&sum), "{sum}");
        assert!(callee.join().is_err());
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(closed.count(), 2);
    });
}

/// Two threads send to an async function, which waits for a message or for another future. A
/// failure: a message is lost, overtaken or read twice; or a deadlock, as it is not woken.
#[test]
fn an_inbox_has_each_message_once() {
    explore("an inbox gets what was sent, in order", 2_000, || {
        let scheduler = prompt_scheduler(2);
        let other = scheduler.spawn(async { 7 }).unwrap();
        let reader = scheduler.spawn_with(|mut inbox| async move {
            let seven = other.await.unwrap();
            let mut last = [0; 2];
            for _ in 0..4 {
                let Event::Message(Note::Number(message)) = inbox.next().await else {
                    panic!("nothing else was sent")
                };
                let before = std::mem::replace(&mut last[message / 10], message % 10);
                assert_eq!(before + 1, message % 10, "lost or overtaken");
            }
            seven
        });
        let reader = reader.unwrap();
        let pid = reader.pid();
        let senders = [0, 1].map(|sender| {
            let handle = scheduler.handle();
            thread::spawn(move || {
                for number in 1..=2 {
                    let message = Note::Number(10 * sender + number);
                    handle.send(pid, message).unwrap();
                }
            })
        });
        senders.into_iter().for_each(|it| it.join().unwrap());
        assert_eq!(reader.join().unwrap(), 7);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A call at the end is requested while the process ends. A failure: no call, or two.
#[test]
fn a_call_at_the_end_comes_once() {
    explore("one call at the end", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let calls = Arc::new(AtomicUsize::new(0));
        let process = scheduler.submit(answering(&closed), "run", ()).unwrap();
        let pid = process.pid();
        let asker = {
            let (handle, calls) = (scheduler.handle(), Arc::clone(&calls));
            thread::spawn(move || {
                let _ = handle.at_end(pid, move |reason| {
                    assert!(matches!(
                        reason,
                        ExitReason::Terminated | ExitReason::NoSuchProcess
                    ));
                    calls.fetch_add(1, Ordering::SeqCst);
                });
            })
        };
        scheduler.terminate(pid).unwrap();
        assert!(process.join().is_err());
        asker.join().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    });
}

/// A process that is named, watched and linked from its first moment ends at once. A failure: a
/// watcher is not told, or twice, or the name stays.
#[test]
fn ties_from_the_first_moment_hold() {
    explore("who watches from the first moment is told", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let told = Arc::new(Mutex::new(Vec::new()));
        let watcher = {
            let told = Arc::clone(&told);
            scripted(&closed, move |_, events, out| {
                for event in events {
                    match event {
                        Event::Down(down) => told.lock().unwrap().push(down.pid),
                        Event::Exited(exited) => told.lock().unwrap().push(exited.pid),
                        _ => {}
                    }
                }
                if told.lock().unwrap().len() == 2 {
                    out.done(0);
                }
            })
        };
        let watcher = scheduler.submission(watcher, "run", ()).trap_exits();
        let watcher = watcher.submit().unwrap();
        let brief = scripted(&closed, |_, _, out| out.done(3));
        let brief = scheduler
            .submission(brief, "run", ())
            .name("brief")
            .monitored_by(watcher.pid())
            .linked_to(watcher.pid())
            .submit()
            .unwrap();
        let pid = brief.pid();
        assert_eq!(brief.join().unwrap(), 3);
        assert_eq!(scheduler.whereis("brief"), None);
        watcher.join().unwrap();
        assert_eq!(*told.lock().unwrap(), [pid, pid]);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}
