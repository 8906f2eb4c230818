//! Starts that have a limit: a process for that alone calls the child's `init`.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Events, ExitReason, Handle, InitError, Process, StepOutput, Undelivered,
};
use filch_supervisor::{
    Child, ChildError, ChildRef, ChildState, Failure, Strategy, Supervisor, SupervisorError,
};

use crate::common::{Actor, Order, SECOND, Stage, Test, names, until};

/// An actor whose `init` waits at a gate.
struct Slow {
    actor: Actor,
    entered: Sender<()>,
    gate: Arc<Mutex<Receiver<()>>>,
}

impl Process<Test> for Slow {
    fn init(
        &mut self,
        context: &Context<'_, Test>,
        method: &str,
        input: (),
    ) -> Result<(), InitError<Test>> {
        let _ = self.entered.send(());
        let _ = self.gate.lock().unwrap().recv();
        self.actor.init(context, method, input)
    }

    fn step(
        &mut self,
        context: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        self.actor.step(context, events, out)
    }

    fn close(&mut self, reason: &ExitReason) {
        self.actor.close(reason);
    }
}

/// Makes such a child, limited to a second; returns what tells that its `init` runs, and the gate.
fn slow(stage: &Stage, name: &str) -> (Child<Test>, Receiver<()>, Sender<()>) {
    let (enter, entered) = channel();
    let (open, gate) = channel();
    let (actor, gate) = (stage.actor(name), Arc::new(Mutex::new(gate)));
    let child = Child::new(name, move |scheduler: &Handle<Test>| {
        let slow = Slow {
            actor: actor.clone(),
            entered: enter.clone(),
            gate: Arc::clone(&gate),
        };
        scheduler.submission(slow, "run", ())
    });
    (child.start_within(SECOND), entered, open)
}

fn one_for_one() -> Supervisor<Test> {
    Supervisor::new(Strategy::OneForOne).name("root")
}

/// A failure: the list waits behind the `init`, and the test hangs.
#[test]
fn the_children_are_listed_while_one_starts() {
    let stage = Stage::new();
    let supervisor = stage.start(one_for_one().child(stage.child("a")));
    let (child, entered, open) = slow(&stage, "b");
    let added = supervisor.start_child(child);
    entered.recv().unwrap();
    let children = supervisor.children().wait().unwrap();
    assert_eq!(names(&children), ["a", "b"]);
    assert_eq!(children[1].state, ChildState::Starting);
    assert_eq!(children[1].pid, Some(stage.pid("b")));
    open.send(()).unwrap();
    added.wait().unwrap();
    open.send(()).unwrap();
    stage.order("b", Order::Fail);
    stage.expect(["+a", "+b", "-b: failed: broken", "+b"]);
    // It has begun, and the supervisor may not have heard of that: then a stop terminates it.
    until(|| supervisor.children().wait().unwrap()[1].state == ChildState::Running);
    supervisor.stop().wait().unwrap();
    stage.expect(["-b: done", "-a: done"]);
}

/// It comes back; its process ends before its first step, when its `init` returns.
#[test]
fn a_start_that_takes_too_long_has_failed() {
    let stage = Stage::new();
    let supervisor = stage.start(one_for_one());
    let (child, entered, open) = slow(&stage, "a");
    let added = supervisor.start_child(child);
    entered.recv().unwrap();
    stage.clock.block_until(1);
    stage.clock.advance(SECOND);
    let refused = added.wait().unwrap_err();
    let reason = ChildError::NotStarted(ExitReason::StartTimedOut);
    assert_eq!(refused.error, reason);
    let child = refused.child.unwrap().into_inner();
    // While the closure is in the start before, there is no other one.
    let refused = supervisor.start_child(child).wait().unwrap_err();
    let error = refused.error.to_string();
    assert!(error.contains("its last start has not returned"), "{error}");
    open.send(()).unwrap();
    stage.expect(["+a", "-a: terminated"]);
    let mut child = refused.child.unwrap().into_inner();
    open.send(()).unwrap();
    while let Err(refused) = supervisor.start_child(child).wait() {
        child = refused.child.unwrap().into_inner();
    }
    stage.expect(["+a"]);
    supervisor.stop().wait().unwrap();
    stage.expect(["-a: done"]);
}

#[test]
fn a_supervisor_whose_child_does_not_start_in_time_ends() {
    let stage = Stage::new();
    let (child, entered, open) = slow(&stage, "b");
    let supervisor = one_for_one().child(stage.child("a")).child(child);
    let started = supervisor.start(&stage.scheduler, &stage.timers).unwrap();
    entered.recv().unwrap();
    stage.clock.block_until(1);
    stage.clock.advance(SECOND);
    let failure = Failure::NotStarted {
        child: ChildRef::from("b"),
        reason: ExitReason::StartTimedOut,
    };
    let error = started.wait().unwrap_err();
    assert_eq!(error, SupervisorError::Failed(failure));
    stage.expect(["+a", "-a: done"]);
    drop(open);
    stage.expect(["+b", "-b: terminated"]);
}

#[test]
fn a_restart_that_takes_too_long_is_a_failure() {
    let stage = Stage::new();
    let (child, entered, open) = slow(&stage, "a");
    open.send(()).unwrap();
    let supervisor = stage.start(one_for_one().child(child));
    entered.recv().unwrap();
    stage.order("a", Order::Fail);
    entered.recv().unwrap();
    stage.clock.block_until(1);
    stage.clock.advance(SECOND);
    let failure = Failure::TooManyFailures {
        child: ChildRef::from("a"),
        reason: ExitReason::StartTimedOut,
    };
    let error = supervisor.ended().wait().unwrap_err();
    assert_eq!(error, SupervisorError::Failed(failure));
    drop(open);
    stage.expect(["+a", "-a: failed: broken", "+a", "-a: terminated"]);
}

/// A failure: the stop waits for the `init`, and the test hangs.
#[test]
fn a_stop_does_not_wait_for_a_start_with_a_limit() {
    let stage = Stage::new();
    let supervisor = stage.start(one_for_one().child(stage.child("a")));
    let (child, entered, open) = slow(&stage, "b");
    let added = supervisor.start_child(child);
    entered.recv().unwrap();
    supervisor.stop().wait().unwrap();
    assert_eq!(added.wait().unwrap_err().error, ChildError::Stopping);
    stage.expect(["+a", "-a: done"]);
    drop(open);
    stage.expect(["+b", "-b: terminated"]);
}

/// A failure: the sender of a message that waits is told that it was sent, and it is dropped.
#[test]
fn a_supervisor_takes_no_message() {
    let stage = Stage::new();
    let supervisor = stage.start(one_for_one());
    let (root, order) = (stage.pid("root"), Order::Finish);
    let refused = stage.scheduler.send(root, order).unwrap_err();
    let sent = stage.scheduler.send_when_room(root, order);
    let waiting = stage.scheduler.spawn(sent).unwrap();
    let waited = waiting.join().unwrap().unwrap_err();
    for refused in [refused, waited] {
        let back = (refused.reason, refused.message);
        assert_eq!(back, (Undelivered::Future, order));
    }
    supervisor.stop().wait().unwrap();
}

/// A failure: it is said to have been ended, and a child lives on without a supervisor.
#[test]
fn an_upgrade_ends_a_supervisor_with_its_children() {
    let stage = Stage::new();
    let supervisor = stage.start(one_for_one().child(stage.child("a")));
    let new = stage.actor("new");
    let root = stage.pid("root");
    stage.scheduler.upgrade(root, new, "run", ()).unwrap();
    let error = supervisor.ended().wait().unwrap_err();
    assert_eq!(error, SupervisorError::Terminated);
    stage.expect(["+a", "+new", "-new: terminated", "-a: linked"]);
    until(|| stage.scheduler.live() == 0);
}
