//! The moments of a worker's life.

use std::sync::Arc;

use super::{Ping, Scene, Shot};
use crate::common::until;
use filch_engine::{Context, Stage, WaitsFor, Worker};

/// The way in which a call meets the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Code of the victim makes it.
    Hook,
    /// A worker beside makes it, once the victim has come to that stage, and stays there.
    Stage(Stage),
    /// It is made again and again while the victim passes to its end.
    Passing,
}

/// A moment.
pub(super) struct Moment {
    pub(super) name: &'static str,
    pub(super) aim: Aim,
    /// Makes the victim.
    pub(super) victim: fn(&Arc<Shot>) -> Worker,
    /// Leads it to the moment.
    pub(super) lead: fn(&Scene, &Arc<Shot>),
}

struct Never;

struct Own;

/// Fires when it is dropped.
struct Fires(Arc<Shot>);

impl Drop for Fires {
    fn drop(&mut self) {
        self.0.fire();
    }
}

/// A task that fires when it is dropped. It is sent to the victim alone, and not copied.
#[derive(Clone)]
struct Last(#[expect(dead_code, reason = "dropped")] Arc<Fires>);

fn nothing(_: &Scene, _: &Arc<Shot>) {}

fn remove(scene: &Scene, _: &Arc<Shot>) {
    until(|| scene.victim().stage() == Stage::Runs);
    // A call from outside may have been first.
    let _ = scene.victim().remove();
}

fn ping(scene: &Scene, _: &Arc<Shot>) {
    scene.engine.broadcast(Ping);
}

/// Makes a victim that lists the usual task.
fn listens() -> Worker {
    Worker::new("victim").on(|_: &Ping| {})
}

pub(super) const MOMENTS: [Moment; 17] = [
    Moment {
        name: "makes its own data",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            listens().owns(move || {
                fire();
                Own
            })
        },
        lead: nothing,
    },
    Moment {
        name: "sets up its own data",
        aim: Aim::Hook,
        victim: |shot| listens().owns(|| Own).setup_owner(shot.fires()),
        lead: nothing,
    },
    Moment {
        name: "makes its local data",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            listens().local(fire)
        },
        lead: nothing,
    },
    Moment {
        name: "waits for group data",
        aim: Aim::Stage(Stage::BindsGroup),
        victim: |_| listens().group::<Never>(),
        lead: nothing,
    },
    Moment {
        name: "waits for shared data",
        aim: Aim::Stage(Stage::BindsShared),
        victim: |_| listens().shared::<Never>(),
        lead: nothing,
    },
    Moment {
        name: "sets up its data",
        aim: Aim::Hook,
        victim: |shot| listens().setup(shot.fires()),
        lead: nothing,
    },
    Moment {
        name: "waits for a task",
        aim: Aim::Stage(Stage::Runs),
        victim: |_| listens(),
        lead: nothing,
    },
    Moment {
        name: "runs a task",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            let own = Worker::new("victim").owns(|| Own);
            own.on(move |_: &Ping, _: &mut Own| fire())
        },
        lead: ping,
    },
    Moment {
        name: "runs a task in a fiber",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            let own = Worker::new("victim").owns(|| Own).in_fiber();
            own.on(move |_: &Ping, _: &mut Own| fire())
        },
        lead: ping,
    },
    Moment {
        name: "waits in a task",
        aim: Aim::Stage(Stage::Runs),
        victim: |_| {
            let own = Worker::new("victim").owns(|| Own);
            own.on(|_: &Ping, _: &mut Own, context: Context<'_>| {
                let _ = context.wait_until(|| false);
            })
        },
        lead: |scene, shot| {
            ping(scene, shot);
            let waits = || {
                let report = scene.engine.report();
                let mut workers = report.schedulers[0].workers.iter();
                workers.any(|worker| worker.waits_for == Some(WaitsFor::Condition))
            };
            until(waits);
        },
    },
    Moment {
        name: "is in its own run",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            listens().run(move |_| fire())
        },
        lead: nothing,
    },
    Moment {
        name: "is in its own run in a fiber",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            listens().in_fiber().run(move |_| fire())
        },
        lead: nothing,
    },
    Moment {
        name: "lets others' data go",
        aim: Aim::Passing,
        victim: |_| listens(),
        lead: nothing,
    },
    Moment {
        name: "drops its local data",
        aim: Aim::Hook,
        victim: |shot| {
            let fires = Fires(Arc::clone(shot));
            listens().local(move || fires)
        },
        lead: remove,
    },
    Moment {
        name: "destroys its own data",
        aim: Aim::Hook,
        victim: |shot| {
            let fire = shot.fires();
            listens().owns_until(|| Own, move |_| fire())
        },
        lead: remove,
    },
    Moment {
        name: "empties its queue",
        aim: Aim::Hook,
        victim: |_| listens().on(|_: &Last| {}).group::<Never>(),
        lead: |scene, shot| {
            let last = Last(Arc::new(Fires(Arc::clone(shot))));
            scene
                .victim()
                .send(last)
                .unwrap_or_else(|_| unreachable!("it waits"));
            until(|| scene.engine.report().schedulers[0].workers[0].queued == 1);
            scene.victim().remove().unwrap();
        },
    },
    Moment {
        name: "has ended",
        aim: Aim::Stage(Stage::Gone),
        victim: |_| listens(),
        lead: remove,
    },
];
