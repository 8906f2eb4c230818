//! A supervisor against its children's ends, requests from outside, and its own end.

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use shuttle_tests::explore;

use super::{FOR_EVER, Note, Numbers, prompt_scheduler};
use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_scheduler::{
    Context, Event, Events, ExitReason, Handle, InitError, Pid, Process, Scheduler, StepOutput,
};
use filch_supervisor::{
    Answer, Child, ChildError, ChildRef, ChildState, Failure, Shutdown, Strategy, Supervisor,
    SupervisorError, SupervisorHandle,
};

/// Fails at a message, and is done when it is asked to end.
struct Actor {
    name: &'static str,
    log: Log,
}

impl Process<Numbers> for Actor {
    fn init(
        &mut self,
        _: &Context<'_, Numbers>,
        _: &str,
        (): (),
    ) -> Result<(), InitError<Numbers>> {
        self.log.note('+', self.name);
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(_) => return Err("broken".to_owned()),
                Event::Cancel(_) => out.done(0),
                event => panic!("{event:?}"),
            }
        }
        Ok(())
    }

    fn close(&mut self, _: &ExitReason) {
        self.log.note('-', self.name);
    }
}

/// The lives of all actors: `+` and its name when one begins, `-` when it ends.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(char, &'static str)>>>);

impl Log {
    fn note(&self, what: char, name: &'static str) {
        self.0.lock().unwrap().push((what, name));
    }

    fn read(&self) -> Vec<(char, &'static str)> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the living ones, in the order of their start. At each start, `is_right` gets those
    /// that lived before.
    fn living(
        &self,
        is_right: impl Fn(&'static str, &[&'static str]) -> bool,
    ) -> Vec<&'static str> {
        let mut living = Vec::new();
        let log = self.read();
        for &(what, name) in &log {
            if what == '+' {
                assert!(is_right(name, &living), "{log:?}");
                living.push(name);
            } else {
                let place = living.iter().position(|other| *other == name);
                living.remove(place.unwrap_or_else(|| panic!("{log:?}")));
            }
        }
        living
    }
}

fn child(log: &Log, name: &'static str) -> Child<Numbers> {
    let log = log.clone();
    let child = Child::new(name, move |scheduler: &Handle<Numbers>| {
        let log = log.clone();
        scheduler.submission(Actor { name, log }, "run", ())
    });
    // There is no time in these tests.
    child.shutdown(Shutdown::Unlimited)
}

/// Starts a supervisor named `root` that lets its children fail any number of times.
fn start(
    scheduler: &Scheduler<Numbers>,
    timers: &Timers,
    strategy: Strategy,
    children: impl IntoIterator<Item = Child<Numbers>>,
) -> SupervisorHandle<Numbers> {
    let supervisor = Supervisor::new(strategy)
        .intensity(usize::MAX, FOR_EVER)
        .name("root");
    let supervisor = children.into_iter().fold(supervisor, Supervisor::child);
    supervisor.start(scheduler, timers).unwrap().wait().unwrap()
}

fn stage() -> (Scheduler<Numbers>, Timers, Log) {
    let timers = Timers::with_clock(FakeClock::new()).unwrap();
    (prompt_scheduler(2), timers, Log::default())
}

/// Starts a thread that makes the child fail, if it lives.
fn failing(scheduler: &Scheduler<Numbers>, name: &'static str) -> thread::JoinHandle<()> {
    let handle = scheduler.handle();
    thread::spawn(move || {
        if let Some(pid) = handle.whereis(name) {
            // If it is refused, the child has ended.
            let _ = handle.send(pid, Note::Number(1));
        }
    })
}

/// A child fails while its supervisor is asked to end it, by a request or at once. A failure: the
/// child, or its restarted successor, lives when the request has been answered; or a deadlock, as
/// the end was told to nobody.
fn an_end_races_with_a_request(shutdown: Shutdown) {
    explore("an end that is answered is one", 1_500, move || {
        let (scheduler, timers, log) = stage();
        let child = child(&log, "a").shutdown(shutdown);
        let supervisor = start(&scheduler, &timers, Strategy::OneForOne, [child]);
        let failing = failing(&scheduler, "a");
        supervisor.end_child("a").wait().unwrap();
        assert_eq!(log.living(|_, before| before.is_empty()), [""; 0]);
        assert_eq!(scheduler.whereis("a"), None);
        let children = supervisor.children().wait().unwrap();
        assert_eq!(
            (children[0].state, children[0].pid),
            (ChildState::Ended, None)
        );
        failing.join().unwrap();
        supervisor.stop().wait().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

#[test]
fn a_child_ends_while_it_is_asked_to() {
    an_end_races_with_a_request(Shutdown::Unlimited);
}

#[test]
fn a_child_ends_while_it_is_terminated() {
    an_end_races_with_a_request(Shutdown::AtOnce);
}

/// Children are added while the supervisor is asked to end. A failure: a refused one has lived, or
/// does not come back; an accepted one lives on.
#[test]
fn a_child_is_added_during_the_end() {
    explore("a child is taken and ended, or comes back", 2_000, || {
        let (scheduler, timers, log) = stage();
        let supervisor = start(&scheduler, &timers, Strategy::OneForOne, [child(&log, "a")]);
        let stopping = thread::spawn({
            let supervisor = supervisor.clone();
            move || supervisor.stop().wait().unwrap()
        });
        let names = ["b", "c", "d"];
        let added = names.map(|name| (name, supervisor.start_child(child(&log, name))));
        stopping.join().unwrap();
        assert_eq!(log.living(|_, _| true), [""; 0]);
        for (name, added) in added {
            let has_lived = log.read().contains(&('+', name));
            match added.wait() {
                Ok(_) => assert!(has_lived),
                Err(refused) => {
                    assert_eq!(refused.error, ChildError::Stopping);
                    let back = refused.child.expect("it comes back").into_inner();
                    assert_eq!((back.name(), has_lived), (Some(name), false));
                }
            }
        }
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Three children restart together. The first fails, and so does the last: while it is being ended,
/// before, or after it was started again. A failure: a child lives beside the former life of one
/// behind it, or is missing at the end.
#[test]
fn a_child_fails_while_its_group_begins_anew() {
    explore("the group is ended, then started", 1_500, || {
        let (scheduler, timers, log) = stage();
        let names = ["a", "b", "c"];
        let children = names.map(|name| child(&log, name));
        let supervisor = start(&scheduler, &timers, Strategy::OneForAll, children);
        let last = failing(&scheduler, "c");
        failing(&scheduler, "a").join().unwrap();
        last.join().unwrap();
        scheduler.wait_for_standstill().unwrap();
        let living = log.living(|name, before| before.iter().all(|&other| other < name));
        assert_eq!(living, names);
        for child in supervisor.children().wait().unwrap() {
            assert_eq!(child.state, ChildState::Running);
            let found = scheduler.whereis(child.name.as_deref().unwrap());
            assert_eq!((child.pid, found.is_some()), (found, true));
        }
        supervisor.stop().wait().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Somebody asks the supervisor's process to end. A failure: its end is told before all children
/// have ended, or children end in another order.
#[test]
fn it_is_asked_to_end_by_somebody() {
    explore("children are ended, the last one first", 2_000, || {
        let (scheduler, timers, log) = stage();
        let children = ["a", "b", "c"].map(|name| child(&log, name));
        let supervisor = start(&scheduler, &timers, Strategy::OneForOne, children);
        let ended = supervisor.ended();
        let root = scheduler.whereis("root").unwrap();
        scheduler.cancel(root, "enough").unwrap();
        ended.wait().unwrap();
        let expected = [
            ('+', "a"),
            ('+', "b"),
            ('+', "c"),
            ('-', "c"),
            ('-', "b"),
            ('-', "a"),
        ];
        assert_eq!(log.read(), expected);
        assert_eq!(scheduler.whereis("root"), None);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A child fails once too often. Others ask how the supervisor ended: before, meanwhile or
/// afterwards. A failure: one of them is told that it was terminated, or nothing.
#[test]
fn it_is_asked_how_it_ended() {
    explore("all are told the same", 2_000, || {
        let (scheduler, timers, log) = stage();
        let supervisor = Supervisor::new(Strategy::OneForOne)
            .intensity(0, FOR_EVER)
            .child(child(&log, "a"));
        let supervisor = supervisor.start(&scheduler, &timers).unwrap();
        let supervisor = supervisor.wait().unwrap();
        let asking = thread::spawn({
            let supervisor = supervisor.clone();
            move || [supervisor.ended(), supervisor.ended()].map(Answer::wait)
        });
        failing(&scheduler, "a").join().unwrap();
        let told = asking.join().unwrap();
        let told = told.into_iter().chain([supervisor.stop().wait()]);
        for told in told {
            let failure = SupervisorError::Failed(Failure::TooManyFailures {
                child: ChildRef::from("a"),
                reason: ExitReason::Failed("broken".into()),
            });
            assert_eq!(told, Err(failure));
        }
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// Somebody terminates the supervisor's process while it restarts a child. It can do nothing any
/// more, so its children end by their links, in any order. A failure: one lives on, for instance
/// because it was born when its supervisor had ended.
#[test]
fn it_is_terminated_by_somebody() {
    explore("no child outlives it", 2_000, || {
        let (scheduler, timers, log) = stage();
        let children = ["a", "b"].map(|name| child(&log, name));
        let supervisor = start(&scheduler, &timers, Strategy::OneForOne, children);
        let failing = failing(&scheduler, "a");
        scheduler
            .terminate(scheduler.whereis("root").unwrap())
            .unwrap();
        failing.join().unwrap();
        scheduler.wait_for_standstill().unwrap();
        assert_eq!(log.living(|_, _| true), [""; 0]);
        assert_eq!(scheduler.live(), 0);
        drop(supervisor);
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

/// A supervisor is asked for its children, while somebody ends it. A failure is a deadlock: the
/// question was on its way into the queue when that was closed and emptied, and stays there as long
/// as the handle, which waits for the answer.
fn a_question_races_with_the_end(end: fn(&Handle<Numbers>, Pid)) {
    explore("every question is answered", 20_000, move || {
        let (scheduler, timers, _) = stage();
        let supervisor = start(&scheduler, &timers, Strategy::OneForOne, []);
        let ending = thread::spawn({
            let (handle, root) = (scheduler.handle(), scheduler.whereis("root").unwrap());
            move || end(&handle, root)
        });
        let answer = supervisor.children().wait();
        assert!(matches!(answer, Ok(_) | Err(ChildError::Stopping)));
        ending.join().unwrap();
        scheduler.shutdown(FOR_EVER).unwrap();
    });
}

#[test]
fn it_is_asked_something_while_it_ends() {
    a_question_races_with_the_end(|handle, root| handle.cancel(root, "enough").unwrap());
}

#[test]
fn it_is_asked_something_while_it_is_terminated() {
    a_question_races_with_the_end(|handle, root| handle.terminate(root).unwrap());
}
