//! Children whose closures have destructors that panic: no other child ends by that.

use filch_actors::prelude::*;
use filch_scheduler::{Event, ExitReason, Handle};
use filch_supervisor::{Child, Restart, Strategy, Supervisor};

use crate::common::{Order, Stage, Test, names, until};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("wanted by the test");
    }
}

/// Makes an ordinary child with such a closure.
fn hostile(stage: &Stage, name: &str) -> Child<Test> {
    let (actor, bomb) = (stage.actor(name), Bomb);
    Child::new(name, move |scheduler: &Handle<Test>| {
        let _ = &bomb;
        scheduler.submission(actor.clone(), "run", ())
    })
}

#[test]
fn a_child_that_is_deleted_costs_no_other() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .child(stage.child("a"))
        .child(hostile(&stage, "b").restart(Restart::Temporary));
    let supervisor = stage.start(supervisor);
    stage.order("b", Order::Finish);
    stage.expect(["+a", "+b", "-b: done"]);
    let are_left = || supervisor.children().wait().unwrap();
    until(|| names(&are_left()) == ["a"]);
    let added = supervisor.start_child(hostile(&stage, "c")).wait().unwrap();
    supervisor.end_child(added).wait().unwrap();
    supervisor.delete_child(added).wait().unwrap();
    assert_eq!(names(&are_left()), ["a"]);
    supervisor.stop().wait().unwrap();
    stage.expect(["+c", "-c: done", "-a: done"]);
}

/// Two such panics would end the program if they met.
#[test]
fn a_supervisor_ends_well_whatever_its_children_leave() {
    let stage = Stage::new();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .name("root")
        .child(hostile(&stage, "a"))
        .child(hostile(&stage, "b"));
    let supervisor = stage.start(supervisor);
    let watcher = stage
        .scheduler
        .spawn_with(|mut inbox| async move { inbox.next().await })
        .unwrap();
    stage.scheduler.monitor(watcher.pid(), stage.pid("root"));
    supervisor.stop().wait().unwrap();
    let Event::Down(down) = watcher.join().unwrap() else {
        panic!("it watches the supervisor");
    };
    assert_eq!(down.reason, ExitReason::Done);
}
