//! Calls that block, inside steps and for commands.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use filch_actors::prelude::*;
use filch_actors::{BlockingThreads, ExecuteError};
use filch_scheduler::{Completion, Event, ProcessError, ProcessHandle};

use crate::common::{Command, Test, scheduler, scripted, start};

fn threads(limit: usize) -> BlockingThreads {
    BlockingThreads::new(NonZeroUsize::new(limit).unwrap())
}

/// On one worker the first process waits for the second, inside a step.
#[test]
fn others_run_while_a_step_blocks() {
    let scheduler = scheduler(1);
    let (give, take) = mpsc::channel();
    let blocked = start(&scheduler, move |context, _, out| {
        let value = context.blocking(|| take.recv().unwrap());
        assert_eq!(context.handle().blocking(|| 1), 1);
        out.done(value);
    });
    let other = scripted(move |_, _, out| {
        give.send(5).unwrap();
        out.done(0);
    });
    scheduler.execute(other, "run", 0).unwrap();
    assert_eq!(blocked.join().unwrap(), 5);
    assert_eq!(scheduler.blocking(|| 2), 2, "outside it just runs");
}

#[test]
fn a_panic_in_a_blocking_call_ends_the_process() {
    let scheduler = scheduler(1);
    let process = scripted(|context, _, _| {
        context.blocking::<()>(|| panic!("blocked and panicked"));
    });
    let error = scheduler.execute(process, "run", 0).unwrap_err();
    let ExecuteError::Process(ProcessError::Panicked(message)) = error else {
        panic!("{error}");
    };
    assert!(
        message.starts_with("blocked and panicked (in process "),
        "{message}"
    );
    let next = scripted(|_, _, out| out.done(1));
    assert_eq!(scheduler.execute(next, "run", 0).unwrap(), 1);
}

/// A process that has yielded `commands` commands, and their completions. It is done with the
/// number of those that were completed with their tag, once all are answered.
fn asked(
    scheduler: &filch_scheduler::Scheduler<Test>,
    commands: u64,
) -> (ProcessHandle<Test>, Vec<Completion<Test>>) {
    let (give, completions) = mpsc::channel();
    let (mut asked, mut answers, mut good) = (false, 0, 0);
    let process = start(scheduler, move |_, events, out| {
        if !std::mem::replace(&mut asked, true) {
            (0..commands).for_each(|tag| out.yield_command(tag, Command::Give(give.clone())));
        }
        for event in events {
            if let Event::Completed { tag, result } = event {
                answers += 1;
                good += u64::from(matches!(result, Ok(reply) if reply == tag));
            }
        }
        if answers == commands {
            out.done(good);
        } else {
            out.wait();
        }
    });
    (
        process,
        completions.iter().take(commands as usize).collect(),
    )
}

#[test]
fn closures_on_threads_reply_fail_and_panic() {
    let scheduler = scheduler(2);
    let threads = threads(4);
    let (process, mut completions) = asked(&scheduler, 3);
    let here = std::thread::current().id();
    threads.run(completions.remove(0), move || {
        assert_ne!(std::thread::current().id(), here);
        Ok(0)
    });
    threads.run(completions.remove(0), || Err("no".to_owned()));
    threads.run(completions.remove(0), || panic!("contained"));
    assert_eq!(process.join().unwrap(), 1);
    assert!((1..=3).contains(&threads.threads()));
}

/// One thread: first in, first out, and never two at once.
#[test]
fn beyond_the_limit_work_waits_its_turn() {
    const WORK: u64 = 500;
    let scheduler = scheduler(2);
    let threads = threads(1);
    let (process, completions) = asked(&scheduler, WORK);
    let running = Arc::new(AtomicUsize::new(0));
    let (give, order) = mpsc::channel();
    for completion in completions {
        let (tag, running, give) = (completion.tag(), Arc::clone(&running), give.clone());
        threads.run(completion, move || {
            assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0);
            give.send(tag).unwrap();
            running.fetch_sub(1, Ordering::Relaxed);
            Ok(tag)
        });
    }
    drop(give);
    assert_eq!(process.join().unwrap(), WORK);
    assert!(order.iter().eq(0..WORK));
    assert_eq!(threads.threads(), 1);
}

#[test]
fn what_has_not_begun_is_dropped_with_the_threads_and_with_its_process() {
    let scheduler = scheduler(2);
    let pool = threads(1);
    let (first, mut completions) = asked(&scheduler, 1);
    let (second, mut more) = asked(&scheduler, 1);
    let (begin, begun) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    let ran = Arc::new(AtomicUsize::new(0));
    let run = || {
        let ran = Arc::clone(&ran);
        move || {
            ran.fetch_add(1, Ordering::Relaxed);
            Ok(0)
        }
    };
    pool.run(completions.remove(0), {
        let run = run();
        move || {
            begin.send(()).unwrap();
            gate.recv().unwrap();
            run()
        }
    });
    begun.recv().unwrap();
    pool.run(more.remove(0), run());
    drop(pool);
    // Abandoned while the first one still runs, which nobody waits for.
    assert_eq!(second.join().unwrap(), 0);
    open.send(()).unwrap();
    assert_eq!(first.join().unwrap(), 1);
    assert_eq!(ran.load(Ordering::Relaxed), 1);

    let pool = threads(1);
    let (process, mut completions) = asked(&scheduler, 1);
    drop(scheduler);
    assert!(process.join().is_err(), "shut down");
    let (gone, dropped) = mpsc::channel::<()>();
    pool.run(completions.remove(0), {
        let run = run();
        move || {
            drop(gone);
            run()
        }
    });
    assert!(dropped.recv().is_err(), "run, or dropped");
    drop(pool);
    assert_eq!(ran.load(Ordering::Relaxed), 1, "nobody wanted the last one");
}
