//! Row A13: a process is terminated in every state, from everywhere, once; later acts change
//! nothing.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::{
    Command, Scripted, Test, assert_terminated, closed_once, scheduler, scripted, start, summing,
    waiting,
};
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Events, ExitReason, InitError, NoSuchProcess, Process, StepOutput, SubmitError,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Blocks the worker in its step until it is told to go on, and tells that it is in there.
fn gated() -> (Scripted, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let process = scripted(move |_, _, out| {
        entered.send(()).unwrap();
        gate.recv().unwrap();
        out.idle();
    });
    (process, inside, go_on)
}

#[test]
fn one_that_is_idle() {
    let scheduler = scheduler(2);
    let (told, idle) = mpsc::channel();
    let process = scripted(move |_, events, out| {
        assert!(events.is_empty(), "{events:?}");
        told.send(()).unwrap();
        out.idle();
    });
    let closed = process.closed();
    let process = scheduler.submit(process, "run", 0).unwrap();
    idle.recv().unwrap();
    let pid = process.pid();
    scheduler.terminate(pid).unwrap();
    assert_terminated(process.join());
    assert!(closed_once(&closed));
    assert_eq!(scheduler.terminate(pid), Err(NoSuchProcess { pid }));
    assert!(scheduler.send(pid, (0, 0)).is_err());
    assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
}

#[test]
fn one_that_is_blocked_and_whose_completions_come_later() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let process = scripted(move |_, events, out| {
        assert!(events.is_empty(), "{events:?}");
        out.yield_command(0, Command::Give(give.clone()));
        out.yield_command(1, Command::Give(give.clone()));
        out.wait();
    });
    let closed = process.closed();
    let process = scheduler.submit(process, "run", 0).unwrap();
    let (first, second) = (completions.recv().unwrap(), completions.recv().unwrap());
    scheduler.send(process.pid(), (0, 0)).unwrap();
    scheduler.terminate(process.pid()).unwrap();
    assert_terminated(process.join());
    // Its slot is pinned by the completions; another process moves in when they are gone, and never
    // hears of them.
    first.complete(1);
    drop(second);
    let next = scheduler.submit(summing(1), "run", 0).unwrap();
    scheduler.send(next.pid(), (0, 7)).unwrap();
    assert_eq!(next.join().unwrap(), 7);
    assert!(closed_once(&closed));
}

#[test]
fn one_that_runs_ends_after_the_step() {
    let scheduler = scheduler(2);
    let (process, inside, go_on) = gated();
    let closed = process.closed();
    let process = scheduler.submit(process, "run", 0).unwrap();
    inside.recv().unwrap();
    scheduler.terminate(process.pid()).unwrap();
    assert!(!process.has_ended());
    scheduler.terminate(process.pid()).unwrap();
    go_on.send(()).unwrap();
    assert_terminated(process.join());
    assert!(closed_once(&closed));
}

#[test]
fn one_that_is_ready_is_not_stepped_again() {
    let scheduler = scheduler(1);
    let (busy, inside, go_on) = gated();
    let busy = scheduler.submit(busy, "run", 0).unwrap();
    inside.recv().unwrap();
    let never = scripted::<()>(|_, _, _| panic!("terminated before its first step"));
    let closed = never.closed();
    let never = scheduler.submit(never, "run", 0).unwrap();
    scheduler.send(never.pid(), (0, 0)).unwrap();
    scheduler.terminate(never.pid()).unwrap();
    go_on.send(()).unwrap();
    assert_terminated(never.join());
    assert!(closed_once(&closed));
    scheduler.terminate(busy.pid()).unwrap();
    assert_terminated(busy.join());
}

#[test]
fn a13_one_that_goes_on_for_ever() {
    let scheduler = scheduler(1);
    let (told, running) = mpsc::channel();
    let process = start(&scheduler, move |_, _, out| {
        let _ = told.send(());
        out.go_on();
    });
    running.recv().unwrap();
    scheduler.terminate(process.pid()).unwrap();
    assert_terminated(process.join());
}

/// Tells its PID from `init`, and waits there until it is told to succeed or to fail.
struct Slow {
    pid: mpsc::Sender<filch_scheduler::Pid>,
    succeed: mpsc::Receiver<bool>,
    reason: Arc<std::sync::Mutex<Vec<ExitReason>>>,
}

impl Process<Test> for Slow {
    fn init(
        &mut self,
        context: &Context<'_, Test>,
        _: &str,
        _: u64,
    ) -> Result<(), InitError<Test>> {
        self.pid.send(context.pid()).unwrap();
        if self.succeed.recv().unwrap() {
            Ok(())
        } else {
            Err(InitError::Failed("no".to_owned()))
        }
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        _: Events<'_, Test>,
        _: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        panic!("terminated before its first step");
    }

    fn close(&mut self, reason: &ExitReason) {
        self.reason.lock().unwrap().push(reason.clone());
    }
}

#[test]
fn one_whose_init_is_not_finished() {
    for succeeds in [true, false] {
        let scheduler = scheduler(2);
        let handle = scheduler.handle();
        let (pid, pids) = mpsc::channel();
        let (go_on, succeed) = mpsc::channel();
        let reason = Arc::default();
        let slow = Slow {
            pid,
            succeed,
            reason: Arc::clone(&reason),
        };
        let submitter = std::thread::spawn(move || handle.submit(slow, "run", 0));
        scheduler.terminate(pids.recv().unwrap()).unwrap();
        go_on.send(succeeds).unwrap();
        let reasons = match submitter.join().unwrap() {
            Ok(process) => {
                assert_terminated(process.join());
                [ExitReason::Terminated]
            }
            Err(SubmitError::Init(_)) => [ExitReason::NotStarted("init failed: no".into())],
            Err(error) => panic!("{error}"),
        };
        assert_eq!(*reason.lock().unwrap(), reasons);
        assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
    }
}

#[test]
fn a_process_terminates_itself() {
    let scheduler = scheduler(2);
    let mut steps = 0;
    let process = scripted(move |context, _, out| {
        steps += 1;
        assert_eq!(steps, 1, "that step was its last one");
        context.handle().terminate(context.pid()).unwrap();
        out.go_on();
    });
    let closed = process.closed();
    assert_terminated(scheduler.submit(process, "run", 0).unwrap().join());
    assert!(closed_once(&closed));

    // Its own word counts, if it says one in that step.
    let process = scripted(|context, _, out| {
        context.handle().terminate(context.pid()).unwrap();
        out.done(5);
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 5);
}

#[test]
fn a_process_terminates_its_neighbour_and_strangers() {
    for workers in [1, 2] {
        let scheduler = scheduler(workers);
        let other = self::scheduler(1);
        let stranger = other.submit(waiting(), "run", 0).unwrap();
        let strange = stranger.pid();
        let neighbour = scheduler.submit(waiting(), "run", 0).unwrap();
        let pid = neighbour.pid();
        let process = scripted(move |context, _, out| {
            context.handle().terminate(pid).unwrap();
            assert!(context.handle().terminate(strange).is_err());
            out.done(1);
        });
        assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 1);
        assert_terminated(neighbour.join());
        assert!(!stranger.has_ended());
    }
}

#[test]
fn a_terminated_process_does_not_hold_up_a_shutdown() {
    let scheduler = scheduler(2);
    let deaf = start(&scheduler, |_, _, out| out.idle());
    scheduler.terminate(deaf.pid()).unwrap();
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!((report.aborted, report.stuck), (0, vec![]));
    assert_terminated(deaf.join());
}
