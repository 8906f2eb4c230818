//! The engine: a task goes to every worker that lists it, and locks what its function takes.

use std::panic::resume_unwind;

use filch::engine::{Context, Engine, Exit, Worker, WorkerHandle};

use crate::{MOVES, Programs, SHORTS, none};

pub(crate) const PROGRAMS: Programs = [none, none, long, shared, failure];

#[derive(Clone)]
struct Long;
#[derive(Clone)]
struct Short;
#[derive(Clone)]
struct Move(i64);
struct First(i64);
struct Second(i64);

/// Runs a program on an engine with one scheduler, which is one thread.
fn run(program: impl FnOnce(&Engine, &dyn Fn(Worker) -> WorkerHandle)) {
    let engine = Engine::new();
    let only = engine.scheduler("only").unwrap();
    program(&engine, &|worker| only.add(worker).unwrap());
    engine.terminate();
    engine.join().unwrap();
}

fn long() -> String {
    run(|engine, add| {
        // ANCHOR: long
        let long = Worker::new("long").in_fiber();
        add(long.on(|_: &Long, context: Context<'_>| {
            for _ in 0..SHORTS {
                // In the middle of its task; the others have their turns meanwhile.
                assert_eq!(context.complete(Short).unwrap().ran, 1);
            }
        }));
        add(Worker::new("short").on(|_: &Short| ()));
        // ANCHOR_END: long
        assert_eq!(engine.complete(Long).unwrap().ran, 1);
    });
    format!("1 thread ran {SHORTS} short ones meanwhile")
}

fn shared() -> String {
    let mut refused = 0;
    run(|engine, add| {
        let owner = Worker::new("owner").owns(|| First(1_000));
        add(owner.owns(|| Second(1_000)));
        let clerk = |name| Worker::new(name).group::<First>().group::<Second>();
        // ANCHOR: shared
        let there = |by: &Move, context: Context<'_>, a: &mut First, b: &mut Second| {
            a.0 -= by.0;
            let _ = context.give_way(); // the other clerk has a turn, and gets neither account
            b.0 += by.0;
        };
        let back = |by: &Move, b: &mut Second, a: &mut First| {
            assert_eq!(a.0 + b.0, 2_000);
            (a.0, b.0) = (a.0 + by.0, b.0 - by.0);
        };
        // ANCHOR_END: shared
        add(clerk("there").in_fiber().on(there));
        add(clerk("back").on(back));
        for _ in 0..MOVES / 2 {
            assert_eq!(engine.complete(Move(1)).unwrap().ran, 2);
        }
        let workers = &engine.report().schedulers[0].workers;
        refused = workers.iter().map(|worker| worker.gave_way).sum();
    });
    format!("{MOVES} transfers, {refused} times none of the locks")
}

fn failure() -> String {
    run(|engine, add| {
        add(Worker::new("owner").owns(|| First(0)));
        let user = |name| Worker::new(name).group::<First>();
        // ANCHOR: failure
        let breaks = |_: &Move, _: &mut First| resume_unwind(Box::new("in the middle"));
        let breaks = add(user("breaks").on::<Move, _>(breaks));
        assert_eq!(engine.complete(Move(1)).unwrap().dropped, 1); // its sender is told
        assert!(matches!(breaks.join(), Ok(Exit::Panicked { .. })));
        let next = add(user("next").setup(|_: &First| ()));
        assert!(matches!(next.join(), Ok(Exit::Poisoned(_))));
        // ANCHOR_END: failure
    });
    "1 worker panicked, 1 ended at what it had left".to_owned()
}
