//! The contents of a report.

use std::thread;

use crate::common::{Logged, engine, here};

use super::{Ping, waits_for};
use filch_engine::{Context, Engine, Exit, Stage, WaitsFor, Worker};

struct World;

#[test]
fn what_has_its_data_is_not_shown_to_wait_for_it() {
    let engine = engine();
    let seen = Logged::new();
    here(&engine, |local| {
        let holds = Worker::new("holds").in_fiber().owns(|| World);
        let holds = holds.on(|_: &Ping, _: &mut World, context: Context<'_>| {
            for _ in 0..5 {
                context.give_way().unwrap();
            }
        });
        local.handle().add(holds).unwrap();
        let by_task = {
            let (engine, seen) = (engine.clone(), seen.clone());
            move |_: &Ping, _: &mut World| seen.add(format!("{:?}", waits_for(&engine, "task")))
        };
        let task = Worker::new("task").group::<World>().on(by_task);
        let task = local.handle().add(task).unwrap();
        let by_run = {
            let (engine, seen) = (engine.clone(), seen.clone());
            move |context: Context<'_>| {
                drop(context.receive::<Ping>().unwrap());
                let look = |_: &World| seen.add(format!("{:?}", waits_for(&engine, "run")));
                context.lock(look).unwrap();
            }
        };
        let run = Worker::new("run").group::<World>().in_fiber();
        let run = local
            .handle()
            .add(run.receives::<Ping>().run(by_run))
            .unwrap();
        while task.stage() != Stage::Runs || run.stage() != Stage::Runs {
            local.poll();
        }
        engine.broadcast(Ping(1));
        local.poll();
        let held = |name| matches!(waits_for(&engine, name), Some(WaitsFor::Lock(_)));
        assert!(held("task") && held("run"));
        while run.exit().is_none() {
            local.poll();
        }
    });
    assert_eq!(seen.take(), ["None", "None"]);
}

#[test]
fn one_that_is_told_to_end_is_not_shown_to_wait_on() {
    let engine = engine();
    let seen = Logged::new();
    let run = {
        let (engine, seen) = (engine.clone(), seen.clone());
        move |context: Context<'_>| {
            assert!(context.wait_until(|| false).is_err());
            seen.add(format!("{:?}", waits_for(&engine, "run")));
        }
    };
    let worker = Worker::new("run").run(run);
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    while waits_for(&engine, "run").is_none() {
        thread::yield_now();
    }
    worker.remove().unwrap();
    worker.join().unwrap();
    assert_eq!(seen.take(), ["None"]);
}

#[test]
fn a_report_counts_the_tasks_that_wait_for_a_scheduler() {
    let engine = engine();
    here(&engine, |local| {
        let worker = Worker::new("worker").on(|_: &Ping| {});
        local.handle().add(worker).unwrap();
        local.poll();
        (0..3).for_each(|number| {
            engine.broadcast(Ping(number));
        });
        let said = engine.report().to_string();
        assert!(said.contains("here: 3 in its queue"), "{said}");
        local.poll();
        let said = engine.report().to_string();
        assert!(said.contains("here: 0 in its queue"), "{said}");
    });
}

/// Logs, when it is dropped, the number of tasks that the report shows as queued.
struct SaysQueued(Engine, Logged);

impl Drop for SaysQueued {
    fn drop(&mut self) {
        let report = self.0.report();
        let queued = report.schedulers[0].workers[0].queued;
        self.1.add(format!("{queued} queued"));
    }
}

#[test]
fn a_task_that_panicked_is_not_shown_to_wait() {
    let engine = engine();
    let log = Logged::new();
    let says = SaysQueued(engine.clone(), log.clone());
    let worker = Worker::new("panics").local(move || says);
    let worker = worker.on(|_: &Ping| panic!("wanted by the test"));
    let worker = engine.scheduler("one").unwrap().add(worker).unwrap();
    engine.broadcast(Ping(1));
    assert!(matches!(worker.join().unwrap(), Exit::Panicked { .. }));
    assert_eq!(log.take(), ["0 queued"]);
}
