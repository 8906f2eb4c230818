//! The standstill, while somebody outside does not stand still.

use shuttle::thread;
use shuttle_tests::explore;

use crate::{Closed, FOR_EVER, Note, prompt_scheduler, summing};
use filch_scheduler::{Activity, Verdict};

/// A process is sent its two messages while somebody waits for the standstill. A failure: a report that has it runnable, or
/// with a message fewer than its steps; or a deadlock: the standstill was not noticed.
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
        match standstill.processes[..] {
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
