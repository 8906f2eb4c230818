//! Errors in a program: passed up, walked to their sources, and the process's own taken out.

use std::error::Error;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{BlockingThreads, CallError, ExecuteError, SpawnError};
use filch_scheduler::{
    ExitReason, Handle, JoinError, NoSuchProcess, PoolError, ProcessError, Scheduler, SendError,
    SubmitError,
};

use crate::common::{Test, scheduler, scripted, summing, waiting};

fn goes_anywhere<E: Error + Send + Sync + 'static>() {}

#[test]
fn an_error_goes_into_a_box_that_threads_share() {
    goes_anywhere::<SubmitError<Test>>();
    goes_anywhere::<ExecuteError<Test>>();
    goes_anywhere::<JoinError<Test>>();
    goes_anywhere::<SendError<Test>>();
    goes_anywhere::<CallError<Test>>();
    goes_anywhere::<SpawnError<Test, Box<dyn Future<Output = ()> + Send>>>();
    fn run(scheduler: &Scheduler<Test>) -> Result<u64, Box<dyn Error + Send + Sync>> {
        let process = scheduler.submit(summing(1), "run", 0)?;
        scheduler.send(process.pid(), (0, 3))?;
        let sum = process.join()?;
        Ok(sum + scheduler.execute(summing(0), "walk", 0)?)
    }
    let error = run(&scheduler(1)).unwrap_err();
    assert!(error.to_string().contains("no method `walk`"), "{error}");
}

#[test]
fn its_sources_lead_down_to_what_happened() {
    let scheduler = scheduler(1);
    let error = scheduler.execute(waiting(), "walk", 0).unwrap_err();
    let source = error.source().unwrap();
    assert!(source.is::<SubmitError<Test>>());
    let source = source.source().unwrap();
    assert!(source.is::<filch_scheduler::InitError<Test>>());
    assert!(source.source().is_none());
    let failing = scripted(|_, _, _| Err("oh".to_owned()));
    let error = scheduler.execute(failing, "run", 0).unwrap_err();
    assert!(error.source().unwrap().is::<ProcessError<Test>>());
}

/// A failure: two operations tell a user the same in other words.
#[test]
fn that_there_is_no_such_process_is_one_sentence() {
    let scheduler = scheduler(1);
    let process = scheduler.submit(summing(0), "run", 0).unwrap();
    let pid = process.pid();
    process.join().unwrap();
    let sentence = NoSuchProcess { pid }.to_string();
    let expected = format!("no such process: {pid} has ended, or is of another scheduler");
    assert_eq!(sentence, expected);
    let told = [
        scheduler.send(pid, (0, 0)).unwrap_err().to_string(),
        scheduler.register("late", pid).unwrap_err().to_string(),
        scheduler.join_group("late", pid).unwrap_err().to_string(),
        scheduler.cancel(pid, "late").unwrap_err().to_string(),
        scheduler.terminate(pid).unwrap_err().to_string(),
        scheduler
            .upgrade(pid, waiting(), "run", 0)
            .unwrap_err()
            .to_string(),
        // It has the process beside it.
        ExitReason::NoSuchProcess
            .to_string()
            .replace("it has", &format!("{pid} has")),
    ];
    for sentence in told {
        assert_eq!(sentence, expected);
    }
}

#[test]
fn the_process_s_own_error_is_one_call_away() {
    let scheduler = scheduler(1);
    let failing = || scripted(|_, _, _| Err("oh".to_owned()));
    let error = scheduler.execute(failing(), "run", 0).unwrap_err();
    assert_eq!(error.failure().map(String::as_str), Some("oh"));
    let process = scheduler.submit(failing(), "run", 0).unwrap();
    let error = process.join().unwrap_err();
    assert_eq!(error.failure().map(String::as_str), Some("oh"));
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    scheduler.terminate(process.pid()).unwrap();
    assert_eq!(process.join().unwrap_err().failure(), None);
}

/// A test that catches a panic may look at the scheduler that was in use.
#[test]
fn a_scheduler_is_unwind_safe() {
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_unwind_safe::<Scheduler<Test>>();
    is_unwind_safe::<Handle<Test>>();
    let scheduler = scheduler(1);
    assert!(catch_unwind(|| drop(scheduler.submit(waiting(), "panic", 0).unwrap())).is_err());
    assert_eq!(scheduler.live(), 0);
    let boxed: Box<dyn filch_scheduler::Process<Test>> = Box::new(summing(0));
    let run = AssertUnwindSafe(|| scheduler.execute(boxed, "run", 0).unwrap());
    assert_eq!(catch_unwind(run).unwrap(), 0);
}

#[test]
fn workers_come_and_go_and_are_called_as_the_builder_says() {
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .threads(|set| {
            set.max_processors(3)
                .thread_name("loom")
                .stack_size(1 << 20)
        })
        .build()
        .unwrap();
    assert_eq!(scheduler.set_workers(3).unwrap(), 1);
    assert_eq!(scheduler.workers(), 3);
    let error = scheduler.set_workers(4).unwrap_err();
    assert!(matches!(
        error,
        PoolError::TooManyProcessors { asked: 4, max: 3 }
    ));
    let named = scripted(|_, _, out| {
        let name = std::thread::current().name().unwrap().to_owned();
        out.done(u64::from(name.starts_with("loom-")));
    });
    assert_eq!(scheduler.execute(named, "run", 0).unwrap(), 1);
    assert_eq!(scheduler.set_workers(1).unwrap(), 3);
    let handle = scheduler.handle();
    scheduler.shutdown(Duration::from_secs(60)).unwrap();
    assert!(handle.set_workers(2).is_err());
}

#[test]
fn clones_of_blocking_threads_are_one_pool() {
    let threads = BlockingThreads::new(std::num::NonZeroUsize::MIN);
    let clone = threads.clone();
    let scheduler = Scheduler::<Test>::builder()
        .workers(1)
        .handler(move |_, completion| clone.run(completion, || Ok(5)))
        .build()
        .unwrap();
    let mut asked = false;
    let process = scripted(move |_, mut events, out| {
        if !std::mem::replace(&mut asked, true) {
            out.yield_command(0, crate::common::Command::Echo(0));
            out.wait();
        } else if let Some(filch_scheduler::Event::Completed { result, .. }) = events.pop() {
            out.done(result.map_err(|error| error.to_string())?);
        }
        Ok(())
    });
    assert_eq!(scheduler.execute(process, "run", 0).unwrap(), 5);
    assert_eq!(threads.threads(), 1);
}
