//! Learning the end of a process without waiting for it: trying, limits, calls at the end, and
//! children as commands.

use std::sync::mpsc;
use std::time::Duration;

use filch_actors::ExecuteError;
use filch_actors::prelude::*;
use filch_scheduler::{
    Completion, Context, Event, Events, InitError, JoinError, Process, ProcessError, Protocol,
    Scheduler, StepOutput, from_fn,
};

use crate::common::{Command, scheduler, scripted, start, summing, until, waiting};

#[test]
fn a_join_that_does_not_wait_gives_the_handle_back() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    let Err(JoinError::NotYet(process)) = process.try_join() else {
        panic!("nobody has sent to it")
    };
    let Err(JoinError::NotYet(process)) = process.join_timeout(Duration::ZERO) else {
        panic!("nobody has sent to it")
    };
    let Err(JoinError::NotYet(process)) = process.join_timeout(Duration::ZERO) else {
        panic!("nobody has sent to it")
    };
    assert_eq!(process.pid(), pid);
    scheduler.send(pid, (0, 4)).unwrap();
    assert_eq!(process.join_timeout(Duration::MAX).unwrap(), 4);

    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    scheduler.send(process.pid(), (0, 5)).unwrap();
    let mut process = Some(process);
    let sum = loop {
        match process.take().unwrap().try_join() {
            Ok(sum) => break sum,
            Err(JoinError::NotYet(again)) => process = Some(again),
            Err(error) => panic!("{error}"),
        }
        std::thread::yield_now();
    };
    assert_eq!(sum, 5);
}

#[test]
fn the_exit_calls() {
    let scheduler = scheduler(2);
    let (give, take) = mpsc::channel();
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    process.on_exit({
        let give = give.clone();
        move |exit| {
            give.send(exit.unwrap()).unwrap();
            panic!("contained");
        }
    });
    assert!(take.try_recv().is_err());
    scheduler.send(pid, (0, 3)).unwrap();
    assert_eq!(take.recv().unwrap(), 3);

    let failing = start(&scheduler, |_, _, _| Err("no".to_owned()));
    until(|| failing.has_ended());
    let here = std::thread::current().id();
    failing.on_exit(move |exit| {
        assert!(matches!(exit, Err(ProcessError::Failed(message)) if message == "no"));
        assert_eq!(std::thread::current().id(), here);
        give.send(1).unwrap();
    });
    assert_eq!(take.try_recv(), Ok(1), "it had ended: here and now");
}

/// A thread that joins a process takes that one's steps, and no other one's, though these come next
/// in the queue.
#[test]
fn who_joins_runs_nothing_else() {
    let scheduler = scheduler(2);
    let here = std::thread::current().id();
    for _ in 0..1_000 {
        let other = start(&scheduler, move |_, _, out| {
            out.done(u64::from(std::thread::current().id() == here));
        });
        let own = scripted(|_, _, out| out.done(2));
        assert_eq!(scheduler.submit(own, "run", 0).unwrap().join().unwrap(), 2);
        until(|| other.has_ended());
        assert_eq!(other.join().unwrap(), 0, "on the thread that joins");
    }
}

/// A process is told by a message how another one ended, on the only worker there is.
#[test]
fn a_process_learns_of_anothers_end_without_waiting() {
    let scheduler = scheduler(1);
    let parent = scripted(move |context, mut events, out| {
        match events.pop() {
            None => {}
            Some(Event::Message((1, value))) => {
                out.done(value);
                return Ok(());
            }
            Some(event) => panic!("{event:?}"),
        }
        let submitted = context.submit(summing(1), "run", 0).unwrap();
        let pid = submitted.pid();
        let (me, handle) = (context.pid(), context.handle().clone());
        let Err(JoinError::CalledFromInside(submitted)) = submitted.join() else {
            panic!("the only worker would have waited for itself")
        };
        submitted.on_exit(move |exit| handle.send(me, (1, exit.unwrap())).unwrap());
        context.send(pid, (0, 8)).unwrap();
        out.idle();
        Ok(())
    });
    assert_eq!(scheduler.execute(parent, "run", 0).unwrap(), 8);
}

enum Family {}

enum Child {
    Adds(u64),
    Fails,
    Panics,
    RefusesToStart,
    /// The child whose exit makes the reply panic.
    Unspeakable,
}

impl Protocol for Family {
    type Input = ();
    type Message = ();
    type Command = Child;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

struct Member(Child);

impl Process<Family> for Member {
    fn init(&mut self, _: &Context<'_, Family>, _: &str, (): ()) -> Result<(), InitError<Family>> {
        match self.0 {
            Child::RefusesToStart => Err(InitError::Failed("not I".to_owned())),
            _ => Ok(()),
        }
    }

    fn step(
        &mut self,
        _: &Context<'_, Family>,
        _: Events<'_, Family>,
        out: &mut StepOutput<Family>,
    ) -> Result<(), String> {
        match self.0 {
            Child::Adds(number) => out.done(number + 1),
            Child::Fails => return Err("the child's failure".to_owned()),
            Child::Panics => panic!("the child's panic"),
            _ => out.done(0),
        }
        Ok(())
    }
}

/// Yields the command, and is done with the reply or fails with the error's text.
fn parent(child: Child) -> impl Process<Family> {
    let mut child = Some(child);
    from_fn(move |_, mut events, out| {
        if let Some(child) = child.take() {
            out.yield_command(1, child);
            out.wait();
        } else if let Some(Event::Completed { tag: 1, result }) = events.next() {
            out.done(result.map_err(|error| error.to_string())?);
        }
        Ok(())
    })
}

fn bring_up(child: Child, completion: Completion<Family>) {
    let unspeakable = matches!(child, Child::Unspeakable);
    let parent = completion.pid();
    let pid = filch_actors::execute_for(completion, Member(child), "", (), move |exit| {
        assert!(!unspeakable, "the reply's panic");
        exit.map_err(|error| error.to_string())
    });
    assert_ne!(pid, Some(parent));
}

#[test]
fn a_child_is_a_command() {
    let scheduler = Scheduler::<Family>::builder()
        .workers(1)
        .limit(2)
        .handler(bring_up)
        .build()
        .unwrap();
    let run = |child| match scheduler.execute(parent(child), "", ()) {
        Ok(reply) => Ok(reply),
        Err(ExecuteError::Process(ProcessError::Failed(message))) => Err(message),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(run(Child::Adds(41)), Ok(42));
    for (child, why) in [
        (Child::Fails, "the child's failure"),
        (Child::Panics, "the child's panic"),
        (Child::RefusesToStart, "not I"),
        (Child::Unspeakable, "the reply's panic"),
    ] {
        let error = run(child).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    drop(scheduler);

    let scheduler = Scheduler::<Family>::builder()
        .workers(1)
        .limit(1)
        .handler(bring_up)
        .build()
        .unwrap();
    let refused = scheduler.execute(parent(Child::Adds(1)), "", ());
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("the limit of 1 live processes"),
        "{refused}"
    );
}

#[test]
fn a_completion_knows_whether_anybody_waits_for_it() {
    let scheduler = scheduler(2);
    let (give, completions) = mpsc::channel();
    let process = start(&scheduler, move |_, events, out| {
        if events.is_empty() {
            out.yield_command(0, Command::Give(give.clone()));
            out.idle();
        } else {
            out.done(0);
        }
    });
    let completion = completions.recv().unwrap();
    assert!(completion.is_wanted());
    completion.handle().send(process.pid(), (0, 0)).unwrap();
    process.join().unwrap();
    assert!(!completion.is_wanted());
    // Neither does it take the slot's next occupant for its own.
    let next = scheduler.submit(waiting(), "run", 0).unwrap();
    assert!(!completion.is_wanted());
    completion.complete(1);
    assert!(!next.has_ended());
}

#[test]
fn a_process_is_awaited_and_executed_with_a_limit() {
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    let doubled = scheduler.spawn(async move { process.await.map(|sum| 7 * sum) });
    scheduler.send(pid, (0, 6)).unwrap();
    assert_eq!(doubled.unwrap().join().unwrap().unwrap(), 42);

    let idle = scheduler.execute_timeout(summing(1), "run", 0, Duration::ZERO);
    let Err(ExecuteError::NotYet(idle)) = idle else {
        panic!("it waits for a message");
    };
    scheduler.send(idle.pid(), (0, 5)).unwrap();
    assert_eq!(idle.join().unwrap(), 5);
    let quick = scripted(|_, _, out| out.done(4));
    let quick = scheduler.execute_timeout(quick, "run", 0, Duration::from_secs(60));
    assert_eq!(quick.unwrap(), 4);
    let failing = start(&scheduler, |_, _, _| Err("oh".to_owned()));
    let failing = scheduler.spawn(failing);
    let failed = failing.unwrap().join().unwrap();
    assert!(matches!(failed, Err(ProcessError::Failed(text)) if text == "oh"));
}
