//! The calls of a context, in each code that has one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::{Endless, Ping, Scene};
use crate::common::{until, within};
use filch_engine::{Context, LockDataError, Worker};

#[derive(Clone)]
struct Inner;

struct Own;

/// Makes a call, and returns whether it said that the worker is to end.
type Call = fn(Context<'_>) -> bool;

/// The calls, and whether they wait until the worker is to end, if nothing else comes.
const CALLS: [(&str, bool, Call); 14] = [
    ("name", false, |context| context.name().is_empty()),
    ("is_ending", false, |context| {
        let _ = context.is_ending();
        false
    }),
    ("broadcast", false, |context| {
        context.broadcast(Ping);
        false
    }),
    // It ends with the engine, or with the worker that has it, whatever is first.
    ("complete", true, |context| {
        let _ = context.complete(Endless);
        context.wait_until(|| false).is_err()
    }),
    ("complete of a task that it lists", false, |context| {
        context.complete(Inner).is_ok()
    }),
    ("run_task", false, |context| {
        let _ = context.run_task(Inner);
        false
    }),
    ("run_queued", false, |context| {
        context.run_queued();
        false
    }),
    ("receive", false, |context| {
        context.receive::<Endless>().is_ok()
    }),
    ("try_receive", false, |context| {
        context.try_receive::<Endless>().is_ok()
    }),
    ("lock", false, |context| {
        let locked = context.lock(|_: &mut u8| {});
        matches!(locked, Err(LockDataError::ReadOnly(_)))
    }),
    ("give_way", false, |context| {
        let _ = context.give_way();
        false
    }),
    ("wait_until", true, |context| {
        context.wait_until(|| false).is_err()
    }),
    ("sleep_until", true, |context| {
        let far = Instant::now() + Duration::from_secs(3_600);
        context.sleep_until(far).is_err()
    }),
    ("clear_poison", false, |context| {
        context.clear_poison::<Own>() == Ok(true)
    }),
];

/// Code with a context, which it hands on.
type Hook = Box<dyn Fn(Context<'_>) + Send + Sync>;

/// Puts a hook into a worker.
type Code = fn(Worker, Hook) -> Worker;

/// The code, by name.
const CODE: [(&str, Code); 6] = [
    ("setup_owner", |worker, hook| {
        worker.setup_owner(move |context: Context<'_>| hook(context))
    }),
    ("setup", |worker, hook| {
        worker.setup(move |context: Context<'_>| hook(context))
    }),
    ("a task", |worker, hook| {
        worker.on(move |_: &Ping, _: &mut Own, context: Context<'_>| hook(context))
    }),
    ("a task in a fiber", |worker, hook| {
        worker
            .in_fiber()
            .on(move |_: &Ping, _: &mut Own, context: Context<'_>| hook(context))
    }),
    ("its own run", |worker, hook| worker.run(hook)),
    ("its own run in a fiber", |worker, hook| {
        worker.in_fiber().run(hook)
    }),
];

/// Makes each call in each code, of a worker that lives, and of one that is told to end before.
pub(super) fn attack_all() {
    for (name, waits, call) in CALLS {
        for (place, code) in CODE {
            for is_told in [false, true] {
                attack(
                    &format!("{name} in {place}, told to end: {is_told}"),
                    (waits, call),
                    code,
                    is_told,
                );
            }
        }
    }
}

fn attack(cell: &str, (waits, call): (bool, Call), code: Code, is_told: bool) {
    let scene = Scene::new();
    let (tells, hears) = channel();
    let has_begun = Arc::new(AtomicBool::new(false));
    let hook: Hook = {
        let (scene, begins) = (Arc::clone(&scene), Arc::clone(&has_begun));
        Box::new(move |context| {
            if is_told {
                let _ = scene.victim().remove();
            }
            begins.store(true, Ordering::Relaxed);
            let _ = tells.send(call(context));
        })
    };
    let worker = Worker::new("victim")
        .owns(|| Own)
        .owns(|| 7_u8)
        .on(|_: &Inner, _: &u8| {});
    let victim = scene.scheduler.add(code(worker, hook)).unwrap();
    assert!(scene.victim.set(victim).is_ok());
    scene.engine.broadcast(Ping);
    until(|| has_begun.load(Ordering::Relaxed));
    scene.end(cell);
    let has_ended = within(cell, move || hears.recv().unwrap());
    assert_eq!(has_ended, waits, "{cell}");
}
