//! A live process is replaced by a new version of itself: the same name, mailbox, commands and
//! watchers; another process.

use std::sync::{Arc, Mutex, mpsc};

use crate::common::{
    Command, Test, assert_terminated, beginning, scheduler, scripted, start, summing, waiting,
};
use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, ExitReason, Handle, InitError, JoinError, NoSuchProcess,
    Pid, Process, ProcessError, ProcessHandle, StepOutput, SubmitError,
};

/// The events in the lives of one process's versions, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Adds up what it is sent; on 0 ends with the sum; on 100 upgrades to the next version with the
/// sum, on 666 to one that refuses. Notes its steps without events: the first one of each version.
struct Version {
    number: u64,
    sum: u64,
    log: Log,
    completion: Option<mpsc::Sender<Completion<Test>>>,
}

fn version(number: u64, log: &Log) -> Version {
    Version {
        number,
        sum: 0,
        log: Arc::clone(log),
        completion: None,
    }
}

impl Version {
    fn note(&self, what: impl std::fmt::Display) {
        let number = self.number;
        self.log.lock().unwrap().push(format!("{number} {what}"));
    }
}

impl Process<Test> for Version {
    fn init(
        &mut self,
        _: &Context<'_, Test>,
        method: &str,
        sum: u64,
    ) -> Result<(), InitError<Test>> {
        self.note(format_args!("{method} {sum}"));
        self.sum = sum;
        match method {
            "run" => Ok(()),
            "panic" => panic!("not ready"),
            _ => Err(InitError::unknown_method(method, &["run"])),
        }
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        if let Some(give) = self.completion.take() {
            out.yield_command(7, Command::Give(give));
        }
        if events.len() == 0 {
            self.note("steps");
        }
        for event in events {
            match event {
                Event::Message((_, 0)) => out.done(self.sum),
                Event::Message((_, 100)) => {
                    let next = version(self.number + 1, &self.log);
                    out.upgrade(Box::new(next), "run", self.sum);
                }
                Event::Message((_, 666)) => {
                    let next = version(self.number + 1, &self.log);
                    out.upgrade(Box::new(next), "walk", self.sum);
                }
                Event::Message((_, value)) => self.sum += value,
                Event::Completed { tag, result } => {
                    self.note(format_args!("completed {tag}"));
                    self.sum += result.map_err(|error| error.to_string())?;
                }
                event => self.note(format_args!("{event:?}")),
            }
        }
        Ok(())
    }

    fn close(&mut self, reason: &ExitReason) {
        self.note(format_args!("closed: {reason}"));
    }
}

#[test]
fn a13_from_inside_with_its_state() {
    let scheduler = scheduler(1);
    let log = Log::default();
    let (give, completions) = mpsc::channel();
    let mut first = version(1, &log);
    first.completion = Some(give);
    let process = scheduler.submit(first, "run", 1).unwrap();
    let pid = process.pid();
    let completion = completions.recv().unwrap();
    let watcher = scheduler.submit(watching(pid), "run", 0).unwrap();
    for message in [10, 100, 20, 100] {
        scheduler.send(pid, (0, message)).unwrap();
        settle(&scheduler);
    }
    // Asked for by version 1.
    completion.complete(1_000);
    settle(&scheduler);
    scheduler.send(pid, (0, 0)).unwrap();
    assert_eq!(process.join().unwrap(), 1_031);
    assert_eq!(watcher.join().unwrap(), 1);
    assert_eq!(
        *log.lock().unwrap(),
        [
            "1 run 1",
            "1 steps",
            "2 run 11",
            "1 closed: replaced by a new version",
            "2 steps",
            "3 run 31",
            "2 closed: replaced by a new version",
            "3 steps",
            "3 completed 7",
            "3 closed: done",
        ]
    );
    assert!(scheduler.send(pid, (0, 0)).is_err());
}

/// Is done with 1 when it is told first that `pid` is done.
fn watching(pid: Pid) -> impl Process<Test> {
    scripted(move |context, events, out| {
        if events.is_empty() {
            context.monitor(pid);
        }
        for event in events {
            let Event::Down(down) = event else {
                panic!("{event:?}")
            };
            assert_eq!((down.pid, down.reason), (pid, ExitReason::Done));
            out.done(1);
        }
    })
}

/// Waits until a process of idle priority has run: on the one worker, all others have nothing to do
/// then.
fn settle(scheduler: &filch_scheduler::Scheduler<Test>) {
    let probe = scheduler.submission(summing(0), "run", 0).idle_priority();
    assert_eq!(probe.submit().unwrap().join().unwrap(), 0);
}

#[test]
fn one_that_refuses_ends_the_process() {
    let scheduler = scheduler(1);
    let log = Log::default();
    let process = scheduler.submit(version(1, &log), "run", 5).unwrap();
    settle(&scheduler);
    scheduler.send(process.pid(), (0, 666)).unwrap();
    match process.join() {
        Err(JoinError::Process(ProcessError::Upgrade(InitError::UnknownMethod { .. }))) => {}
        other => panic!("{other:?}"),
    }
    let failed = "the new version did not start: no method `walk`; this process has: run";
    assert_eq!(
        *log.lock().unwrap(),
        [
            "1 run 5".to_owned(),
            "1 steps".to_owned(),
            "2 walk 5".to_owned(),
            "2 closed: not started: no method `walk`; this process has: run".to_owned(),
            format!("1 closed: failed: {failed}"),
        ]
    );
    let process = scheduler.submit(version(1, &log), "run", 5).unwrap();
    let next = Box::new(version(2, &log));
    scheduler.upgrade(process.pid(), next, "panic", 0).unwrap();
    let error = process.join().unwrap_err().to_string();
    let told = "the new version did not start: init panicked: not ready (in process ";
    assert!(error.starts_with(told), "{error}");
}

/// A failure: the mail of the new version is refused for ever.
#[test]
fn one_without_a_mailbox_upgrades_itself() {
    let scheduler = scheduler(1);
    let first = scripted(|context, _, out| {
        assert!(context.is_future());
        out.upgrade(Box::new(summing(1)), "run", 0);
    });
    let first = scheduler.submission(first, "run", 0);
    let process = first.without_mailbox().future().submit().unwrap();
    settle(&scheduler);
    scheduler.send(process.pid(), (0, 7)).unwrap();
    assert_eq!(process.join().unwrap(), 7);
}

#[test]
fn from_outside_in_whatever_state() {
    let scheduler = scheduler(1);
    let log = Log::default();
    let (give, completions) = mpsc::channel();
    // Idle, then blocked, with a message that is kept for the new version.
    let mut give = Some(give);
    let blocked = scripted(move |_, events, out| {
        assert!(events.is_empty(), "{events:?}");
        let give = give.take().expect("it is stepped once");
        out.yield_command(7, Command::Give(give));
        out.wait();
    });
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    let pid = process.pid();
    // It has taken its first step. Without any event the new version takes one too.
    settle(&scheduler);
    scheduler.upgrade(pid, Box::new(blocked), "run", 0).unwrap();
    settle(&scheduler);
    let completion = completions.try_recv().expect("it was stepped at once");
    scheduler.send(pid, (0, 30)).unwrap();
    let next = Box::new(version(3, &log));
    scheduler.upgrade(pid, next, "run", 3).unwrap();
    settle(&scheduler);
    assert_eq!(*log.lock().unwrap(), ["3 run 3"]);
    completion.complete(500);
    settle(&scheduler);
    scheduler.send(pid, (0, 0)).unwrap();
    assert_eq!(process.join().unwrap(), 533);
    assert_eq!(
        *log.lock().unwrap(),
        ["3 run 3", "3 completed 7", "3 closed: done"]
    );
    // It has ended: the new version comes back, untouched.
    let error = scheduler
        .upgrade(pid, Box::new(version(5, &log)), "run", 5)
        .unwrap_err();
    let SubmitError::NotAdmitted(reason, refused) = error else {
        panic!("{error}");
    };
    assert_eq!(reason.unmet(), Some(&NoSuchProcess { pid }));
    assert_eq!(refused.into_inner().1, 5);
    assert_eq!(log.lock().unwrap().len(), 3);
}

/// A version that is dropped unused, because of a termination in the same turn, is not even
/// initialised.
#[test]
fn a_termination_comes_first() {
    let scheduler = scheduler(1);
    let log = Log::default();
    let pids = Arc::new(Mutex::new(None));
    let victim = scheduler.submit(waiting(), "run", 0).unwrap();
    *pids.lock().unwrap() = Some(victim.pid());
    let other = Arc::clone(&log);
    let both = scripted(move |context, _, out| {
        let pid = pids.lock().unwrap().take().expect("it is stepped once");
        let next = Box::new(version(2, &other));
        context.handle().upgrade(pid, next, "run", 0).unwrap();
        context.terminate(pid).unwrap();
        out.done(1);
    });
    assert_eq!(scheduler.execute(both, "run", 0).unwrap(), 1);
    assert_terminated(victim.join());
    assert!(log.lock().unwrap().is_empty());
}

/// Its `init` blocks and gives the only free worker to another process; the step runs where a
/// worker is free again, and is counted there: each worker's counters have one writer.
#[test]
fn a_step_counts_where_init_came_back() {
    /// It is in its only step until it is let out.
    fn busy(scheduler: &Handle<Test>) -> (ProcessHandle<Test>, mpsc::Sender<()>) {
        let (entered, inside) = mpsc::channel();
        let (leave, gate) = mpsc::channel();
        let process = start(scheduler, move |_, _, out| {
            entered.send(()).unwrap();
            gate.recv().unwrap();
            out.done(0);
        });
        inside.recv().unwrap();
        (process, leave)
    }

    let scheduler = scheduler(2);
    let steps = |handle: &Handle<Test>| -> Vec<u64> {
        handle
            .stats()
            .workers
            .iter()
            .map(|worker| worker.steps)
            .collect()
    };
    let (first, leave_first) = busy(&scheduler);
    let before = steps(&scheduler);
    let there = before.iter().position(|&steps| steps == 1).unwrap();
    let (process, leave) = (summing(1), mpsc::channel::<mpsc::Sender<()>>());
    let process = scheduler.submit(process, "run", 0).unwrap();
    let blocking = beginning({
        let (handle, give) = (scheduler.handle(), leave.0);
        let block = move || {
            let (_second, leave_second) = busy(&handle);
            give.send(leave_second).unwrap();
            leave_first.send(()).unwrap();
        };
        |context| {
            context.blocking(block);
            Ok(())
        }
    });
    scheduler
        .upgrade(process.pid(), Box::new(blocking), "run", 0)
        .unwrap();
    assert_eq!(process.join().unwrap(), 1);
    first.join().unwrap();
    assert_eq!(steps(&scheduler)[there], 2);
    leave.1.recv().unwrap().send(()).unwrap();
}
