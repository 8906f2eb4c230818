//! A shutdown returns even if the user's code never does. Here that code waits for a channel whose
//! sender the test holds, and returns when the test has seen the report.
//!
//! A failure: the test hangs.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use filch_actors::BlockingThreads;
use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_scheduler::{
    CallKind, Completion, Context, Event, ExitReason, ExitRef, Handle, LifeCycle, Node, Pid,
    Process, Receiver as Remote, RunningCall, Scheduler, SendError, ShutdownReport,
};

use crate::common::{Command, Test, handle, scripted, until, waiting};

/// Short: the calls of these tests outlast any patience.
const PATIENCE: Duration = Duration::from_millis(1);

/// A place where the user's code does not return.
struct Gate {
    entering: Sender<()>,
    opened: Receiver<()>,
}

impl Gate {
    fn pass(&self) {
        let _ = self.entering.send(());
        // The test has ended, or wants this to.
        let _ = self.opened.recv();
    }
}

/// The test's side of a gate.
struct Keeper {
    entered: Receiver<()>,
    _open: Sender<()>,
}

impl Keeper {
    fn await_entry(&self) {
        self.entered.recv().unwrap();
    }
}

fn gate() -> (Gate, Keeper) {
    let (say, entered) = mpsc::channel();
    let (_open, opened) = mpsc::channel();
    let entering = say;
    (Gate { entering, opened }, Keeper { entered, _open })
}

/// Passes its gate when it is dropped.
struct SlowDrop(Gate);

impl Drop for SlowDrop {
    fn drop(&mut self) {
        self.0.pass();
    }
}

/// Makes a scheduler whose handler does the commands of the tests on threads, and keeps `owned`.
fn build<T: Send + Sync + 'static>(workers: usize, owned: T) -> Scheduler<Test> {
    Scheduler::builder()
        .workers(workers)
        .handler(move |command: Command, completion: Completion<Test>| {
            let _kept = &owned;
            handle(command, completion);
        })
        .build()
        .unwrap()
}

/// With one worker and with four, at the same time, as most of these shutdowns take all their time.
fn with_one_and_four(test: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for workers in [1, 4] {
            let test = &test;
            scope.spawn(move || test(workers));
        }
    });
}

fn threads() -> BlockingThreads {
    BlockingThreads::new(NonZeroUsize::new(4).unwrap())
}

/// Waits for one command, with that tag, and ends when it is asked to.
fn asking(tag: u64) -> impl Process<Test> {
    let mut asked = false;
    scripted(move |_, events, out| {
        if !std::mem::replace(&mut asked, true) {
            out.yield_command(tag, Command::Forget);
        }
        if events.iter().any(|event| matches!(event, Event::Cancel(_))) {
            out.done(0);
        } else {
            out.wait();
        }
    })
}

/// Makes a scheduler whose first command never returns, on its handler's threads.
fn with_stuck_command(workers: usize) -> (Scheduler<Test>, Pid, Keeper) {
    let (gate, keeper) = gate();
    let (threads, gate) = (threads(), Mutex::new(Some(gate)));
    let scheduler = Scheduler::builder()
        .workers(workers)
        .handler(move |_: Command, completion: Completion<Test>| {
            let gate = gate.lock().unwrap().take().unwrap();
            threads.run_labelled("reads for ever", completion, move || {
                gate.pass();
                Ok(0)
            });
        })
        .build()
        .unwrap();
    let pid = scheduler.submit(asking(7), "run", 0).unwrap().pid();
    keeper.await_entry();
    (scheduler, pid, keeper)
}

/// Returns the one call that still runs.
fn only(report: &ShutdownReport) -> RunningCall {
    assert!(!report.is_clean());
    match report.running.as_slice() {
        [call] => call.clone(),
        _ => panic!("{report}"),
    }
}

/// Shuts the scheduler down, and returns the one call that it has not waited for.
fn abandoned(scheduler: Scheduler<Test>) -> RunningCall {
    only(&scheduler.shutdown(PATIENCE).unwrap())
}

#[test]
fn a_command_that_never_returns() {
    with_one_and_four(|workers| {
        let (scheduler, pid, _keeper) = with_stuck_command(workers);
        let dump = scheduler.dump().to_string();
        let line = format!("filch-block-0: command 7 of process {pid} (reads for ever), for ");
        assert!(dump.contains(&line), "{dump}");
        let report = scheduler.shutdown(PATIENCE).unwrap();
        let call = only(&report);
        assert_eq!(call.thread, "filch-block-0");
        assert_eq!(call.process, Some(pid));
        let label = Some("reads for ever".into());
        assert_eq!(call.kind, CallKind::Command { tag: 7, label });
        assert_eq!((report.cancelled, report.stuck.len()), (1, 0));
        assert!(report.to_string().contains(&line), "{report}");
    });
}

#[test]
fn a_scheduler_is_dropped_beside_such_a_command() {
    with_one_and_four(|workers| {
        let (scheduler, _, keeper) = with_stuck_command(workers);
        drop(scheduler);
        drop(keeper);
    });
}

/// The command returns while the shutdown waits, so there is nothing to report.
#[test]
fn a_command_that_returns_in_time_is_waited_for() {
    let (scheduler, _, keeper) = with_stuck_command(2);
    let handle = scheduler.handle();
    let returning = std::thread::spawn(move || {
        // Its process has ended: what is left is the command.
        until(|| handle.live() == 0);
        drop(keeper);
    });
    let report = scheduler.shutdown(Duration::from_secs(600)).unwrap();
    assert!(report.is_clean(), "{report}");
    returning.join().unwrap();
}

/// After the last process has ended, its worker is in the call.
#[test]
fn an_exit_call_that_never_returns() {
    with_one_and_four(|workers| {
        let (gate, keeper) = gate();
        let scheduler = build(workers, ());
        let process = scheduler.submit(waiting(), "run", 0).unwrap();
        let pid = process.pid();
        process.on_exit(move |_| gate.pass());
        let report = scheduler.shutdown(PATIENCE).unwrap();
        let call = only(&report);
        assert!(call.thread.starts_with("filch-"), "{call}");
        assert_eq!((call.kind, call.process), (CallKind::AfterEnd, Some(pid)));
        assert_eq!(report.stuck, []);
        drop(keeper);
    });
}

/// A process is in a step, or in a blocking call, which has given its worker away.
#[test]
fn a_step_that_never_returns() {
    let test = |workers, blocks| {
        let (gate, keeper) = gate();
        let scheduler = build(workers, ());
        let process = scripted(move |context, _, out| {
            if blocks {
                context.blocking(|| gate.pass());
            } else {
                gate.pass();
            }
            out.done(1);
        });
        let stuck = scheduler.submit(process, "run", 0).unwrap();
        keeper.await_entry();
        let report = scheduler.shutdown(PATIENCE).unwrap();
        let call = only(&report);
        let kind = if blocks {
            CallKind::Blocking
        } else {
            CallKind::Step
        };
        assert_eq!((call.kind, call.process), (kind, Some(stuck.pid())));
        assert_eq!(report.stuck, [stuck.pid()]);
        drop(keeper);
        // It was not harmed: it ends as it says.
        assert_eq!(stuck.join().unwrap(), 1);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| with_one_and_four(|workers| test(workers, false)));
        with_one_and_four(|workers| test(workers, true));
    });
}

/// The last worker drops the handler.
#[test]
fn a_handler_whose_destructor_never_returns() {
    with_one_and_four(|workers| {
        let (gate, keeper) = gate();
        let scheduler = build(workers, Mutex::new(SlowDrop(gate)));
        let call = abandoned(scheduler);
        assert!(
            call.kind == CallKind::Destructor && call.thread != "filch-shutdown",
            "{call}"
        );
        keeper.await_entry();
    });
}

#[test]
fn an_output_whose_destructor_never_returns() {
    let (gate, keeper) = gate();
    let scheduler = build(2, ());
    let output = SlowDrop(gate);
    // Else it would be this thread that drops the output, if the future was quicker.
    let (dropped, is_dropped) = mpsc::channel();
    let handle = scheduler.spawn(async move {
        is_dropped.recv().unwrap();
        output
    });
    drop(handle);
    dropped.send(()).unwrap();
    keeper.await_entry();
    let call = abandoned(scheduler);
    assert!(call.process.is_some(), "{call}");
}

/// The handler has the last timers, one of which is firing.
#[test]
fn a_timer_that_never_returns() {
    with_one_and_four(|workers| {
        let (gate, keeper) = gate();
        let timers = Timers::new().unwrap();
        timers
            .call_after(Duration::ZERO, move || gate.pass())
            .unwrap();
        keeper.await_entry();
        let scheduler = build(workers, timers);
        let call = abandoned(scheduler);
        assert_eq!(call.kind, CallKind::Timer);
        assert_eq!(call.thread, "filch-timers");
        drop(keeper);
    });
}

/// Hooks: one never returns from the end of a process, and the destructor of others does not. The
/// shutdown has the last handle.
#[test]
fn hooks_that_never_return() {
    struct Hooks(
        Option<Mutex<Gate>>,
        #[expect(dead_code)] Option<Mutex<SlowDrop>>,
    );
    impl LifeCycle<Test> for Hooks {
        fn on_complete(&self, _: &Context<'_, Test>, _: &ExitReason, _: ExitRef<'_, Test>) {
            if let Some(gate) = &self.0 {
                gate.lock().unwrap().pass();
            }
        }
    }
    let build = |hooks| Scheduler::<Test>::builder().workers(2).hooks(hooks).build();
    let (at_end, keeper) = gate();
    let scheduler = build(Hooks(Some(Mutex::new(at_end)), None)).unwrap();
    let pid = scheduler.submit(waiting(), "run", 0).unwrap().pid();
    let call = abandoned(scheduler);
    assert_eq!((call.kind, call.process), (CallKind::Step, Some(pid)));
    drop(keeper);

    let (in_drop, keeper) = gate();
    let scheduler = build(Hooks(None, Some(Mutex::new(SlowDrop(in_drop))))).unwrap();
    let call = abandoned(scheduler);
    assert_eq!(call.kind, CallKind::Destructor);
    assert_eq!(call.thread, "filch-shutdown");
    keeper.await_entry();
}

/// The shutdown drops receivers, whose destructors are user code.
#[test]
fn a_receiver_whose_destructor_never_returns() {
    struct Away(#[expect(dead_code)] Mutex<SlowDrop>);
    impl Remote<Test> for Away {
        fn receive(&self, _: Pid, _: (usize, u64)) -> Result<(), SendError<Test>> {
            Ok(())
        }
    }
    let (gate, _keeper) = gate();
    let scheduler = build(1, ());
    let away = Away(Mutex::new(SlowDrop(gate)));
    assert!(scheduler.connect(Node(3), away).is_ok());
    let call = abandoned(scheduler);
    assert_eq!(call.kind, CallKind::Destructor);
    assert_eq!(call.thread, "filch-shutdown");
}

/// A value of a worker's thread, which outlives the worker's main function.
#[test]
fn a_thread_local_value_whose_destructor_never_returns() {
    thread_local! {
        static LOCAL: RefCell<Option<SlowDrop>> = const { RefCell::new(None) };
    }
    let (gate, keeper) = gate();
    let scheduler = build(1, ());
    let mut value = Some(SlowDrop(gate));
    let process = scripted(move |_, _, out| {
        LOCAL.with(|local| *local.borrow_mut() = value.take());
        out.done(0);
    });
    // On the worker's thread, and not on this one.
    let process = scheduler.submit(process, "run", 0).unwrap();
    process.join_timeout(Duration::from_secs(3600)).unwrap();
    assert_eq!(abandoned(scheduler).kind, CallKind::Destructor);
    keeper.await_entry();
}

/// Its own command shuts the scheduler down. A failure: it waits for itself.
#[test]
fn a_command_that_shuts_its_own_scheduler_down() {
    let (pass, passed) = mpsc::channel::<Scheduler<Test>>();
    let (say, said) = mpsc::channel();
    let (threads, passed) = (threads(), Mutex::new(Some(passed)));
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler(move |_: Command, completion: Completion<Test>| {
            let passed = passed.lock().unwrap().take().unwrap();
            let say = say.clone();
            threads.run(completion, move || {
                let report = passed.recv().unwrap().shutdown(Duration::from_secs(600));
                say.send(report.unwrap()).unwrap();
                Ok(0)
            });
        })
        .build()
        .unwrap();
    let handle: Handle<Test> = scheduler.handle();
    let pid = handle.submit(asking(1), "run", 0).unwrap().pid();
    pass.send(scheduler).unwrap();
    let report = said.recv().unwrap();
    assert_eq!(report.stuck, []);
    assert!(report.running.iter().all(|call| call.process == Some(pid)));
}
