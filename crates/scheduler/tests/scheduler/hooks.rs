//! Life-cycle hooks: a start that may be refused, an end that is told once, panics that harm
//! nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Test, closed_once, handle, scripted, start, summing, waiting};
use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{
    Context, ExitReason, ExitRef, InitError, LifeCycle, Observer, Outcome, Pid, Process,
    ProcessDetails, ProcessError, Scheduler, SubmitError,
};

/// Notes every start and every end. Refuses the second process, panics at the start of the third.
#[derive(Default)]
struct Register {
    lives: Mutex<HashMap<Pid, Vec<ExitReason>>>,
    starts: Mutex<u32>,
}

impl LifeCycle<Test> for Arc<Register> {
    fn on_start(
        &self,
        context: &Context<'_, Test>,
        _: &dyn Process<Test>,
        _: &str,
    ) -> Result<(), String> {
        let number = {
            let mut starts = self.starts.lock().unwrap();
            *starts += 1;
            *starts
        };
        match number {
            2 => Err("not you".to_owned()),
            3 => panic!("what now"),
            _ => {
                self.lives.lock().unwrap().insert(context.pid(), Vec::new());
                Ok(())
            }
        }
    }

    fn on_complete(&self, context: &Context<'_, Test>, reason: &ExitReason, _: ExitRef<'_, Test>) {
        let ends = self
            .lives
            .lock()
            .unwrap()
            .get_mut(&context.pid())
            .map(|ends| {
                ends.push(reason.clone());
                ends.len()
            });
        assert_eq!(ends, Some(1), "started, and ended once");
        // It is out of reach, and it is not listed any more.
        assert!(!context.handle().processes().contains(&context.pid()));
        panic!("nobody minds");
    }
}

fn with_hooks(hooks: impl LifeCycle<Test>) -> Scheduler<Test> {
    Scheduler::builder()
        .workers(2)
        .handler(handle)
        .hooks(hooks)
        .build()
        .unwrap()
}

#[test]
fn a13_starts_may_be_refused_and_ends_are_told_once() {
    let register = Arc::new(Register::default());
    let scheduler = with_hooks(Arc::clone(&register));

    assert_eq!(scheduler.execute(summing(0), "run", 0).unwrap(), 0);
    let refused = waiting();
    let closed = refused.closed();
    let error = scheduler.submit(refused, "run", 0).unwrap_err();
    assert!(matches!(
        &error,
        SubmitError::Init(InitError::Refused(error)) if error == "not you"
    ));
    assert_eq!(error.to_string(), "the start was refused: not you");
    assert!(closed_once(&closed));
    let panicked = waiting();
    let closed = panicked.closed();
    let error = scheduler.submit(panicked, "run", 0).unwrap_err();
    let (error, expected) = (
        error.to_string(),
        "the start hook panicked: what now (in process ",
    );
    assert!(error.starts_with(expected) && error.ends_with(", begun at `run`)"));
    assert!(closed_once(&closed));
    assert_eq!((scheduler.live(), scheduler.processes().len()), (0, 0));
    // `init` refuses first.
    assert!(scheduler.submit(waiting(), "fail", 0).is_err());

    let failing = scripted(|_, _, _| Err("no".to_owned()));
    assert!(matches!(
        scheduler.execute(failing, "run", 0),
        Err(ExecuteError::Process(ProcessError::Failed(_)))
    ));
    let terminated = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.terminate(terminated.pid()).unwrap();
    assert!(terminated.join().is_err());
    let cancelled = scheduler.submit(waiting(), "run", 0).unwrap();
    let deaf = start(&scheduler, |_, _, out| out.idle());
    let deaf_pid = deaf.pid();
    scheduler.shutdown(Duration::from_millis(1)).unwrap();
    // The processes that had ended had been told of when the shutdown returned.
    let lives = std::mem::take(&mut *register.lives.lock().unwrap());
    assert_eq!(lives[&deaf_pid], [ExitReason::ShutDown]);
    let mut ends: Vec<String> = lives
        .into_values()
        .map(|ends| {
            assert_eq!(ends.len(), 1);
            ends[0].to_string()
        })
        .collect();
    ends.sort_unstable();
    // With so little patience the other one may have been asked in time, or not.
    let (cancelled, end) = match cancelled.join() {
        Ok(0) => (true, "done"),
        _ => (false, "shut down"),
    };
    assert_eq!(
        ends.iter().filter(|&one| one == end).count(),
        2,
        "{cancelled}"
    );
    assert_eq!(ends.len(), 5, "{ends:?}");
}

/// A panic in a close or a destructor changes the reason that the hook is told.
#[test]
fn the_last_word_counts() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("boom");
        }
    }
    #[derive(Clone, Default)]
    struct Last(Arc<Mutex<Option<ExitReason>>>);
    impl LifeCycle<Test> for Last {
        fn on_complete(&self, _: &Context<'_, Test>, reason: &ExitReason, _: ExitRef<'_, Test>) {
            *self.0.lock().unwrap() = Some(reason.clone());
        }
    }
    let last = Last::default();
    let scheduler = with_hooks(last.clone());
    let bomb = Bomb;
    let process = scripted(move |_, _, out| {
        let _ = &bomb;
        out.done(1);
    });
    assert!(scheduler.execute(process, "run", 0).is_err());
    let told = last.0.lock().unwrap().take();
    let told = told.unwrap().to_string();
    assert!(told.starts_with("panicked: boom (in process ") && told.ends_with(": its end)"));
}

/// The documentation of [`LifeCycle`] is true, as seen from within the hooks.
#[test]
fn what_is_reachable_when() {
    #[derive(Clone, Default)]
    struct Look(Arc<Mutex<Vec<String>>>);
    impl Look {
        fn note(&self, what: &str, is: bool) {
            let what = format!("{what}: {is}");
            self.0.lock().unwrap().push(what);
        }
    }
    impl LifeCycle<Test> for Look {
        fn on_start(
            &self,
            context: &Context<'_, Test>,
            _: &dyn Process<Test>,
            _: &str,
        ) -> Result<(), String> {
            let (handle, pid) = (context.handle(), context.pid());
            self.note("a future", context.is_future());
            self.note(
                "sent",
                handle.send(pid, (0, 1)).is_ok() != context.is_future(),
            );
            self.note("named", handle.whereis("one") == Some(pid));
            self.note("known", handle.info(pid).is_some());
            self.note("live", handle.live() == 1);
            Ok(())
        }

        fn on_complete(&self, context: &Context<'_, Test>, _: &ExitReason, _: ExitRef<'_, Test>) {
            let (handle, pid) = (context.handle(), context.pid());
            self.note("a future", context.is_future());
            self.note("sent", handle.send(pid, (0, 1)).is_ok());
            self.note("named", handle.whereis("one").is_some());
            self.note("live", handle.live() == 1);
        }
    }
    let look = Look::default();
    let scheduler = with_hooks(look.clone());
    let ended = |scheduler: &Scheduler<Test>| -> u64 {
        let workers = scheduler.stats().workers;
        workers.iter().map(|worker| worker.ended).sum()
    };
    for round in 1..=100 {
        let process = scheduler.submission(summing(2), "run", 0).name("one");
        let process = process.submit().unwrap();
        scheduler.send(process.pid(), (0, 1)).unwrap();
        assert_eq!(process.join().unwrap(), 2);
        assert_eq!((ended(&scheduler), scheduler.live()), (round, 0));
        let mut seen = std::mem::take(&mut *look.0.lock().unwrap());
        let at_end = seen.split_off(5);
        let start = "a future: false, sent: true, named: true, known: true, live: true";
        assert_eq!(seen.join(", "), start);
        let end = "a future: false, sent: false, named: false, live: false";
        assert_eq!(at_end.join(", "), end);
    }
    scheduler.spawn(async {}).unwrap().join().unwrap();
    let seen = std::mem::take(&mut *look.0.lock().unwrap());
    let futures = seen.iter().filter(|seen| *seen == "a future: true");
    assert_eq!(futures.count(), 2, "{seen:?}");
    let handle = scheduler.handle();
    scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!((handle.live(), handle.processes().len()), (0, 0));
}

/// Notes what hooks and observers are shown of each process.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }
}

impl LifeCycle<Test> for Notes {
    fn on_start(
        &self,
        context: &Context<'_, Test>,
        process: &dyn Process<Test>,
        method: &str,
    ) -> Result<(), String> {
        let (names, type_name) = (context.info().names, process.type_name());
        let kind = type_name.rsplit("::").next().unwrap_or_default();
        self.note(format!("{kind} {names:?} starts at {method:?}"));
        Ok(())
    }

    fn on_complete(&self, _: &Context<'_, Test>, _: &ExitReason, exit: ExitRef<'_, Test>) {
        self.note(match exit {
            Ok(Outcome::Output(output)) => format!("output {output}"),
            Ok(Outcome::Other(any)) => {
                let (short, long) = (any.downcast_ref::<u8>(), any.downcast_ref::<[u64; 9]>());
                format!("{short:?}, {long:?}")
            }
            Err(ProcessError::Failed(error)) => format!("failed with {error}"),
            Err(error) => error.to_string(),
        });
    }
}

impl Observer for Notes {
    fn begin(&self, _: Pid, _: &'static str, method: &str, _: Option<Pid>) {
        self.note(format!("begins at {method:?}"));
    }

    fn end(&self, _: Pid, reason: &ExitReason) {
        self.note(format!("ends: {reason}"));
    }

    fn replace(&self, _: Pid, _: &'static str, _: &str) {}

    fn begin_command(&self, _: Pid, _: u64) -> u64 {
        0
    }

    fn note_call(&self, _: Pid, _: u64, _: Pid, _: bool) {}

    fn end_command(&self, _: Pid, _: u64) {}

    fn details(&self, _: Pid) -> Option<ProcessDetails> {
        None
    }
}

/// Hooks see the process, its entry point and names, and its exit: an output of its protocol, one
/// of any type, large or small, or its error. An observer sees the entry point and the reason.
#[test]
fn what_hooks_and_observers_are_shown() {
    let notes = Notes::default();
    let builder = Scheduler::builder().workers(1).hooks(notes.clone());
    let scheduler = builder.observer(notes.clone()).build().unwrap();
    let told = || std::mem::take(&mut *notes.0.lock().unwrap());

    let process = scripted(|_, _, out| out.done(7));
    let process = scheduler.submission(process, "run", 0).name("seven");
    assert_eq!(process.submit().unwrap().join().unwrap(), 7);
    let begun = [
        "begins at \"run\"",
        "Scripted [\"seven\"] starts at \"run\"",
    ];
    assert_eq!(told(), [&begun[..], &["output 7", "ends: done"]].concat());

    let process = start(&scheduler, |_, _, _| Err("no".to_owned()));
    assert!(process.join().is_err());
    assert_eq!(told()[2..], ["failed with no", "ends: failed: no"]);
    assert!(scheduler.submit(waiting(), "fail", 0).is_err());
    let refused = "ends: not started: init failed: init does not want to";
    assert_eq!(told(), ["begins at \"fail\"", refused]);

    assert_eq!(scheduler.spawn(async { 3_u8 }).unwrap().join().unwrap(), 3);
    let of_future = told();
    assert_eq!(of_future[0], "begins at \"\"");
    assert!(of_future[1].ends_with("[] starts at \"\""), "{of_future:?}");
    assert_eq!(of_future[2..], ["Some(3), None", "ends: done"]);
    let long = scheduler.spawn(async { [1_u64; 9] }).unwrap();
    assert_eq!(long.join().unwrap(), [1; 9]);
    assert_eq!(told()[2], "None, Some([1, 1, 1, 1, 1, 1, 1, 1, 1])");
}
