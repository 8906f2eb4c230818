//! Standstills, while something outside still moves.

use shuttle::thread;
use shuttle_tests::explore;

use super::{Closed, FOR_EVER, Note, prompt_scheduler, scripted, summing};
use filch_scheduler::{Activity, Event, Pid, Verdict};

/// A process gets its two messages while somebody waits for the standstill. A failure: a report
/// says that it can run, or gives it fewer messages than steps; or a deadlock, as the standstill
/// was not noticed.
#[test]
fn a_standstill_races_with_messages() {
    explore("a standstill stands still", 2_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let process = scheduler.submit(summing(&closed, 2), "run", ()).unwrap();
        let (handle, pid) = (scheduler.handle(), process.pid());
        let sender = thread::spawn(move || {
            handle.send(pid, Note::Number(1)).unwrap();
            handle.send(pid, Note::Number(2)).unwrap();
        });
        let standstill = scheduler.wait_for_standstill().unwrap();
        match &standstill.processes[..] {
            [] => assert_eq!(standstill.verdict(), Verdict::AllEnded),
            [one] => {
                assert_eq!(standstill.verdict(), Verdict::Deadlock);
                assert_eq!((one.pid, one.activity), (pid, Activity::Idle));
                assert!(one.messages <= 1 && one.steps >= 1);
            }
            _ => panic!("{standstill}"),
        }
        sender.join().unwrap();
        assert_eq!(process.join().unwrap(), 3);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Two threads wait for the same standstill. One of them then has a number passed on from one
/// process to another, while the other thread looks at the two. A failure: a report with a process
/// that is about to get the number; or one in which one process has got it and the other has not,
/// so that they were not looked at in one standstill.
#[test]
fn a_standstill_is_one_for_all_of_its_processes() {
    explore("a standstill is one moment", 1_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let submit = |next: Option<Pid>| {
            let process = scripted(&closed, move |context, events, out| {
                for event in events {
                    match (event, next) {
                        (Event::Message(note), Some(next)) => context.send(next, note).unwrap(),
                        (Event::Message(_), None) => {}
                        (_, _) => return out.done(0),
                    }
                }
                out.idle();
            });
            scheduler.submit(process, "run", ()).unwrap()
        };
        let last = submit(None);
        // Bystanders to be looked at in between, which takes time.
        let bystanders = [(); 6].map(|()| submit(None));
        let first = submit(Some(last.pid()));
        let (handle, pid) = (scheduler.handle(), first.pid());
        let sender = thread::spawn(move || {
            handle.wait_for_standstill().unwrap();
            handle.send(pid, Note::Number(1)).unwrap();
        });
        let standstill = scheduler.wait_for_standstill().unwrap();
        let processes = &standstill.processes;
        assert!(processes.iter().all(|one| one.activity == Activity::Idle));
        let messages = |pid| {
            let process = processes.iter().find(|one| one.pid == pid);
            process.expect("it lives").messages
        };
        assert_eq!(messages(first.pid()), messages(last.pid()), "{standstill}");
        sender.join().unwrap();
        scheduler.wait_for_standstill().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
        drop((first, bystanders, last));
        assert_eq!(closed.count(), 8);
    });
}
