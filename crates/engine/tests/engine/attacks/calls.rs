//! The calls.

use std::time::Duration;

use super::{Endless, Ping, Poke, Scene};
use filch_engine::{CalledFromInside, LocalScheduler, WaitError, Worker};

/// The thing that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    Never,
    ForEngine,
    ForWorker,
}

/// Makes a call, and returns whether it was refused because it came from inside.
pub(super) type Call = fn(&Scene) -> bool;

fn is_refused<T>(answer: Result<impl Sized, WaitError<T>>) -> bool {
    matches!(answer, Err(WaitError::CalledFromInside(_)))
}

pub(super) const CALLS: [(&str, Waits, Call); 25] = [
    ("Engine::scheduler", Waits::Never, |scene| {
        let _ = scene.engine.scheduler("another");
        false
    }),
    ("Engine::local_scheduler", Waits::Never, |scene| {
        let _ = scene.engine.local_scheduler("inner", LocalScheduler::poll);
        false
    }),
    ("Engine::broadcast", Waits::Never, |scene| {
        scene.engine.broadcast(Ping);
        false
    }),
    ("Engine::complete", Waits::ForEngine, |scene| {
        is_refused(scene.engine.complete(Endless))
    }),
    (
        "Engine::complete of a task for it",
        Waits::ForEngine,
        |scene| is_refused(scene.engine.complete(Ping)),
    ),
    ("Engine::complete_timeout", Waits::ForEngine, |scene| {
        is_refused(
            scene
                .engine
                .complete_timeout(Endless, Duration::from_millis(1)),
        )
    }),
    ("Engine::sender", Waits::Never, |scene| {
        scene.engine.sender::<Poke>().send(Poke);
        false
    }),
    ("Engine::terminate", Waits::Never, |scene| {
        scene.engine.terminate();
        false
    }),
    ("Engine::join", Waits::ForEngine, |scene| {
        scene.engine.terminate();
        scene.engine.join() == Err(CalledFromInside)
    }),
    ("Engine::report", Waits::Never, |scene| {
        scene.engine.report().to_string().is_empty()
    }),
    ("Engine's Debug", Waits::Never, |scene| {
        format!("{:?}", scene.engine).is_empty()
    }),
    ("Engine's clone and drop", Waits::Never, |scene| {
        drop(scene.engine.clone());
        false
    }),
    ("Scheduler::add", Waits::Never, |scene| {
        let _ = scene.scheduler.add(Worker::new("late").on(|_: &Ping| {}));
        false
    }),
    (
        "Scheduler::add of one that is refused",
        Waits::Never,
        |scene| {
            let twice = Worker::new("twice").owns(|| 7_u8).owns(|| 7_u8);
            scene.scheduler.add(twice).is_ok()
        },
    ),
    ("Scheduler::terminate", Waits::Never, |scene| {
        scene.scheduler.terminate();
        false
    }),
    ("Scheduler::is_terminated", Waits::Never, |scene| {
        let _ = scene.scheduler.is_terminated();
        false
    }),
    ("Scheduler's Debug", Waits::Never, |scene| {
        format!("{:?}", scene.scheduler).is_empty()
    }),
    ("WorkerHandle::name", Waits::Never, |scene| {
        scene.victim().name().is_empty()
    }),
    ("WorkerHandle::stage", Waits::Never, |scene| {
        let _ = scene.victim().stage();
        false
    }),
    ("WorkerHandle::exit", Waits::Never, |scene| {
        let _ = scene.victim().exit();
        false
    }),
    ("WorkerHandle::join", Waits::ForWorker, |scene| {
        scene.engine.terminate();
        scene.victim().join() == Err(CalledFromInside)
    }),
    ("WorkerHandle::join_timeout", Waits::ForWorker, |scene| {
        scene.victim().join_timeout(Duration::from_millis(1)) == Err(CalledFromInside)
    }),
    ("WorkerHandle::remove", Waits::Never, |scene| {
        let _ = scene.victim().remove();
        false
    }),
    ("WorkerHandle::send", Waits::Never, |scene| {
        let _ = scene.victim().send(Ping);
        false
    }),
    ("WorkerHandle's Debug", Waits::Never, |scene| {
        format!("{:?}", scene.victim()).is_empty()
    }),
];
