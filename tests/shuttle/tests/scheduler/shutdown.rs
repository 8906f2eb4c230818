//! The shutdown against everything else.

use shuttle::thread;
use shuttle_tests::explore;

use crate::{Closed, FOR_EVER, Note, prompt_scheduler, until_cancelled};

/// A thread submits and sends while the scheduler shuts down with all the patience there is. A
/// process that is admitted is cancelled, and ends by it. A failure: an admitted process that hears
/// of no cancellation: a deadlock in `shutdown`; or one that is not closed.
#[test]
fn a_submission_races_with_the_shutdown() {
    explore("whoever is admitted is cancelled", 3_000, || {
        let (scheduler, closed) = (prompt_scheduler(2), Closed::new());
        let early = scheduler
            .submit(until_cancelled(&closed), "run", ())
            .unwrap();
        let late = thread::spawn({
            let (handle, closed) = (scheduler.handle(), closed.clone());
            move || {
                let process = handle.submit(until_cancelled(&closed), "run", ()).ok()?;
                let _ = handle.send(process.pid(), Note::Number(0));
                Some(process)
            }
        });
        let report = scheduler.shutdown(FOR_EVER).unwrap();
        assert_eq!((report.aborted, report.stuck), (0, vec![]));
        assert_eq!(early.join().unwrap(), 7);
        let admitted = late.join().unwrap();
        assert_eq!(closed.count(), 1 + usize::from(admitted.is_some()));
        if let Some(process) = admitted {
            assert_eq!(process.join().unwrap(), 7);
        }
    });
}
