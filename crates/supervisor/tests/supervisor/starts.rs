//! The start of a supervisor, and its failures.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};

use filch_actors::prelude::*;
use filch_scheduler::{Event, ExitReason, Handle, Pid};
use filch_supervisor::{Child, ChildRef, Failure, Strategy, Supervisor, SupervisorError};

use crate::common::{Order, Stage, Test, until};

fn not_started(
    supervisor: Supervisor<Test>,
    stage: &Stage,
) -> Result<(ChildRef, ExitReason), SupervisorError> {
    let started = supervisor.start(&stage.scheduler, &stage.timers)?;
    match started.wait() {
        Err(SupervisorError::Failed(Failure::NotStarted { child, reason })) => Ok((child, reason)),
        Err(error) => Err(error),
        Ok(_) => panic!("it has started"),
    }
}

#[test]
fn a_child_that_does_not_start_ends_those_before_it() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .name("root")
        .child(stage.child("a"))
        .child(stage.child("b"))
        .child(stage.unwilling("c", 0))
        .child(stage.child("d"));
    let (child, reason) = not_started(supervisor, &stage).unwrap();
    assert_eq!(child, ChildRef::from("c"));
    assert!(
        reason.to_string().contains("it does not want to"),
        "{reason}"
    );
    stage.expect(["+a", "+b", "-b: done", "-a: done"]);
    stage.expect_no_more();
}

#[test]
fn a_closure_that_panics_does_not_start_its_child() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(Child::new("b", |_: &Handle<Test>| panic!("not today")));
    let (child, reason) = not_started(supervisor, &stage).unwrap();
    assert_eq!(child, ChildRef::from("b"));
    assert_eq!(reason, ExitReason::Panicked("not today".into()));
    stage.expect(["+a", "-a: done"]);
}

/// A thread that waits for the answer may start another one of that name at once.
#[test]
fn a_supervisor_that_did_not_start_has_its_name_no_more() {
    let stage = Stage::new();
    let (go_on, gate) = mpsc::channel::<()>();
    let refusing = Child::new("a", move |_: &Handle<Test>| {
        assert!(gate.recv().is_err());
        panic!("not today")
    });
    let supervisor = Supervisor::new(Strategy::OneForOne).name("root");
    let started = supervisor
        .child(refusing)
        .start(&stage.scheduler, &stage.timers);
    let mut started = started.unwrap();
    let (told, found) = mpsc::channel();
    let waker = Waker::from(Arc::new(Looking {
        scheduler: stage.scheduler.handle(),
        told,
    }));
    let poll = Pin::new(&mut started).poll(&mut Context::from_waker(&waker));
    assert!(poll.is_pending());
    drop(go_on);
    assert_eq!(found.recv().unwrap(), None);
    started.wait().unwrap_err();
}

/// Sends, when it is woken, the process that has the name `root`.
struct Looking {
    scheduler: Handle<Test>,
    told: mpsc::Sender<Option<Pid>>,
}

impl Wake for Looking {
    fn wake(self: Arc<Self>) {
        self.told.send(self.scheduler.whereis("root")).unwrap();
    }
}

#[test]
fn two_children_of_one_name() {
    let stage = Stage::new();
    let two = || Supervisor::new(Strategy::OneForOne).child(stage.child("a"));
    let error = not_started(two().child(stage.child("a")), &stage).unwrap_err();
    assert_eq!(error, SupervisorError::NameTaken("a".into()));
    stage.expect_no_more();
}

#[test]
fn a_supervisor_whose_name_is_taken() {
    let stage = Stage::new();
    let named = || Supervisor::new(Strategy::OneForOne).name("root");
    stage.start(named());
    let error = not_started(named(), &stage).unwrap_err();
    assert!(matches!(error, SupervisorError::NotStarted(_)), "{error}");
}

#[test]
fn children_that_are_async_functions() {
    let stage = Stage::new();
    let child = Child::async_fn("a", |mut inbox| async move {
        if let Event::Message(Order::Fail) = inbox.next().await {
            panic!("broken");
        }
    });
    let supervisor = stage.start(Supervisor::new(Strategy::OneForOne).child(child));
    let first = stage.pid("a");
    let ended = stage.scheduler.spawn(stage.scheduler.ended(first)).unwrap();
    stage.order("a", Order::Fail);
    let reason = ended.join().unwrap();
    let told = format!("panicked: broken (in process {first} `a`: ");
    assert!(reason.to_string().starts_with(&told), "{reason}");
    until(|| stage.scheduler.whereis("a").is_some_and(|pid| pid != first));
    supervisor.stop().wait().unwrap();
}
