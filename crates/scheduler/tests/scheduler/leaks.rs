//! Nothing stays behind: handlers are dropped, threads leave, slots come back, whoever forgets
//! them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use crate::common::{
    Command, Counted, Test, beginning, scheduler, scripted, start, until_dropped, waiting,
};
use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Door, JoinError, MailboxPolicy, ProcessError, Protocol, Scheduler, SendError,
    StepOutput, Undelivered, Wait, from_fn,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Makes a scheduler whose handler keeps every completion it gets, and with them handles to it; and
/// a value that the handler holds while it lives.
fn with_hoarder() -> (Scheduler<Test>, Arc<()>) {
    let alive = Arc::new(());
    let kept = Arc::clone(&alive);
    let hoard = Mutex::new(Vec::<Completion<Test>>::new());
    let scheduler = Scheduler::builder()
        .workers(2)
        .handler(move |_: Command, completion| {
            let _ = &kept;
            hoard.lock().unwrap().push(completion);
        })
        .build()
        .unwrap();
    (scheduler, alive)
}

#[test]
fn a_handler_that_keeps_completions_is_dropped_by_the_shutdown() {
    let (scheduler, alive) = with_hoarder();
    let process = start(&scheduler, |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Echo(1));
        }
        out.wait();
    });
    scheduler.shutdown(Duration::from_millis(1)).unwrap();
    assert!(process.join().is_err());
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// A policy is in its process's slot, stays with a new version, and goes when the slot is given
/// back.
#[test]
fn a_mailbox_policy_goes_with_its_process() {
    struct Refusing {
        _alive: Arc<()>,
    }
    impl MailboxPolicy<Test> for Refusing {
        fn send(&self, to: &Door<'_, Test>, message: (usize, u64)) -> Result<(), SendError<Test>> {
            Err(to.refused(Undelivered::Full { limit: 0 }, message))
        }
        fn send_patiently(
            &self,
            to: &Door<'_, Test>,
            message: (usize, u64),
            _: Option<Wait<'_, Test>>,
        ) -> Poll<Result<(), SendError<Test>>> {
            Poll::Ready(self.send(to, message))
        }
        fn delivered(&self, _: usize) {}
        fn close(&self, _: &Door<'_, Test>) {}
        fn undelivered(&self) -> usize {
            0
        }
    }
    let scheduler = scheduler(1);
    let alive = Arc::new(());
    for round in 0..3 {
        let policy = Refusing {
            _alive: Arc::clone(&alive),
        };
        let process = scheduler
            .submission(waiting(), "run", 0)
            .mailbox_policy(policy)
            .submit()
            .unwrap();
        assert!(scheduler.send(process.pid(), (0, 1)).is_err(), "{round}");
        if round == 1 {
            let next = Box::new(waiting());
            scheduler.upgrade(process.pid(), next, "run", 0).unwrap();
            scheduler.wait_for_standstill().unwrap();
            assert!(scheduler.send(process.pid(), (0, 1)).is_err());
        }
        scheduler.terminate(process.pid()).unwrap();
        assert!(process.join().is_err());
    }
    let left = Arc::downgrade(&alive);
    drop(alive);
    until_dropped(&left);
}

/// An ended process whose command is under way keeps its slot, and nothing else: it is no longer
/// listed.
#[test]
fn an_ended_process_is_not_listed() {
    let scheduler = scheduler(1);
    let (give, completions) = mpsc::channel();
    let process = scripted(move |_, _, out| {
        out.yield_command(0, Command::Give(give.clone()));
        out.done(1);
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
    let completion = completions.recv().unwrap();
    assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!((report.cancelled, report.aborted), (0, 0));
    drop(completion);
}

/// A submission that is in the middle of `init` when the scheduler runs out of patience: it is
/// admitted, so it must end.
#[test]
fn an_init_that_outlasts_the_shutdown() {
    let scheduler = scheduler(2);
    let handle = scheduler.handle();
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel();
    let slow = beginning(move |_| {
        entered.send(()).unwrap();
        gate.recv().unwrap();
        Ok(())
    });
    std::thread::scope(|scope| {
        let submitter = scope.spawn(move || handle.submit(slow, "run", 0));
        inside.recv().unwrap();
        let report = scheduler.shutdown(Duration::ZERO).unwrap();
        assert_eq!(report.stuck.len(), 1);
        go_on.send(()).unwrap();
        let process = submitter.join().unwrap().unwrap();
        assert!(process.join().is_err(), "closed, not stepped");
    });
}

/// The handler goes with the last worker: when it is dropped, the threads have left.
#[test]
fn the_workers_of_a_scheduler_that_shut_down_from_inside_leave() {
    let (scheduler, alive) = with_hoarder();
    let handle = scheduler.handle();
    let owner = Arc::new(Mutex::new(Some(scheduler)));
    let process = scripted({
        let owner = Arc::clone(&owner);
        move |_, _, out| {
            drop(owner.lock().unwrap().take());
            out.done(1);
        }
    });
    assert_eq!(handle.submit(process, "run", 0).unwrap().join().unwrap(), 1);
    let weak = Arc::downgrade(&alive);
    drop(alive);
    until_dropped(&weak);
}

/// A scheduler is the output of its own process, and is dropped on the worker after the last
/// process has ended: nobody would be left to stop the workers.
#[test]
fn a_scheduler_that_is_dropped_by_its_worker_when_nobody_lives() {
    enum Travel {}
    impl Protocol for Travel {
        type Input = ();
        type Message = ();
        type Command = ();
        type Reply = ();
        type Output = Option<Scheduler<Travel>>;
        type Error = String;
    }
    let alive = Arc::new(());
    let kept = Arc::clone(&alive);
    let scheduler = Scheduler::<Travel>::builder()
        .workers(2)
        .handler(move |(): (), _: Completion<Travel>| {
            let _ = &kept;
        })
        .build()
        .unwrap();
    let handle = scheduler.handle();
    let (place, go) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
    let (taken, told) = (Arc::clone(&place), Arc::clone(&go));
    let traveller = from_fn(move |_, _, out: &mut StepOutput<Travel>| {
        match told.load(Ordering::Acquire) {
            true => out.done(taken.lock().unwrap().take()),
            false => out.go_on(),
        }
        Ok(())
    });
    drop(handle.submit(traveller, "run", ()).unwrap());
    *place.lock().unwrap() = Some(scheduler);
    go.store(true, Ordering::Release);
    let weak = Arc::downgrade(&alive);
    drop(alive);
    until_dropped(&weak);
}

/// It panics in the middle of a backlog.
#[test]
fn what_a_panic_leaves_is_dropped() {
    let scheduler = Scheduler::<Counted>::builder()
        .workers(1)
        .events_per_step(5)
        .build()
        .unwrap();
    let message = Arc::new(());
    let mut left = 3;
    let fragile = from_fn(move |_, events, out: &mut StepOutput<Counted>| {
        left -= u32::from(events.len() > 0);
        assert!(left > 0, "enough");
        out.idle();
        Ok(())
    });
    let process = scheduler.submit(fragile, "run", ()).unwrap();
    let mut accepted = 0;
    while scheduler.send(process.pid(), Arc::clone(&message)).is_ok() {
        accepted += 1;
    }
    assert!(accepted > 0);
    match process.join() {
        Err(JoinError::Process(ProcessError::Panicked(said))) => {
            assert!(said.starts_with("enough (in process "));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(Arc::strong_count(&message), 1);
}
