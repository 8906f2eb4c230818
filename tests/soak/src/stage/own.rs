//! A scheduler of the phase's own: built, used, and ended in one of many ways.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use filch_scheduler::{Handle, Scheduler, ShutdownReport};

use crate::account::{Happening, Kind, Token, begin_stage, complain, dispose, note};
use crate::cast::{Actor, Handler, Hooks, Roster, Soak, World, refused, submit};
use crate::machine;
use crate::plan::{Ending, Keep, OwnScheduler, Role};
use crate::stage::burst::{carry_out, come_to_rest, settle};
use crate::stage::end::{clear_away, end_all, take_leave};

/// The patience of a shutdown that should need none.
const ENOUGH: Duration = Duration::from_secs(10);

/// Builds the scheduler of the plan.
pub(crate) fn build(plan: &OwnScheduler, roster: &Arc<Roster>) -> Option<Scheduler<Soak>> {
    let mut builder = Scheduler::builder()
        .workers(plan.workers)
        .events_per_step(plan.events_per_step)
        .slice(plan.slice)
        .threads(|set| set.watch_interval(plan.watch_interval))
        .hooks(Hooks(Arc::clone(roster)));
    if let Some(limit) = plan.limit {
        builder = builder.limit(limit);
    }
    if plan.has_handler {
        let handler = Handler::new(plan.blocking_threads);
        builder = builder.handler(move |errand, completion| handler.handle(errand, completion));
    }
    match builder.build() {
        Ok(scheduler) => {
            note(Happening::Schedulers);
            Some(scheduler)
        }
        Err(error) => {
            complain(format!("no scheduler: {error}"));
            None
        }
    }
}

/// Carries out such a phase.
pub(crate) fn run(plan: &OwnScheduler, number: u64) {
    let threads = machine::threads();
    let roster = Arc::new(Roster::default());
    let prefix = format!("own-{number}");
    let mix = plan.burst.mix;
    let world = match World::new(mix, plan.limit, plan.has_handler, prefix, &roster) {
        Ok(world) => world,
        Err(error) => return complain(format!("no timers: {error}")),
    };
    let Some(scheduler) = build(plan, &roster) else {
        return;
    };
    let handle = scheduler.handle();
    machine::show(Some(&handle));
    play(plan, scheduler, &world, &handle);
    world.release();
    check_is_over(&world, &handle);
    take_leave(&world);
    machine::show(None);
    drop(handle);
    clear_away(world, threads);
}

/// Carries out the burst and the end, in the order of the plan.
fn play(
    plan: &OwnScheduler,
    scheduler: Scheduler<Soak>,
    world: &Arc<World>,
    handle: &Handle<Soak>,
) {
    begin_stage("burst");
    match plan.ending {
        Ending::InTheMidst { after, patience } => {
            note(Happening::ShutdownsInTheMidst);
            carry_out(world, handle, &plan.burst, || {
                thread::park_timeout(after);
                world.shutting.raise();
                shut_down(scheduler, patience);
            });
            return;
        }
        Ending::DroppedInTheMidst { after } => {
            note(Happening::ShutdownsInTheMidst);
            carry_out(world, handle, &plan.burst, || {
                thread::park_timeout(after);
                world.shutting.raise();
                drop(scheduler);
            });
            return;
        }
        _ => carry_out(world, handle, &plan.burst, || {}),
    }
    come_to_rest(world, handle);
    begin_stage("end");
    match plan.ending {
        Ending::AtRest(patience) => {
            note(Happening::Shutdowns);
            let live = handle.live();
            world.shutting.raise();
            let report = shut_down(scheduler, patience);
            // They may be fewer: a cancelled one may end another by a link first.
            if report.cancelled > live {
                complain(format!("{live} processes lived: {report:?}"));
            }
        }
        Ending::Dropped => {
            world.shutting.raise();
            drop(scheduler);
        }
        Ending::FromInside => end_from_inside(scheduler, world, handle),
        _ => {
            end_all(world, handle, plan.burst.seed);
            world.shutting.raise();
            let report = shut_down(scheduler, ENOUGH);
            if report.cancelled + report.aborted > 0 {
                complain(format!("all had ended: {report:?}"));
            }
        }
    }
}

fn shut_down(scheduler: Scheduler<Soak>, patience: Duration) -> ShutdownReport {
    match scheduler.shutdown(patience) {
        Ok(report) => {
            if !report.is_clean() || report.aborted > report.cancelled + SINCE {
                complain(format!("no process hangs: {report:?}"));
            }
            report
        }
        Err(error) => {
            complain(format!("a thread outside shuts down: {error}"));
            ShutdownReport::default()
        }
    }
}

/// The most processes that may start between the count of the living and the closing.
const SINCE: usize = 100;

/// Makes an `on_exit` call drop the scheduler: usually on its own worker.
fn end_from_inside(scheduler: Scheduler<Soak>, world: &Arc<World>, handle: &Handle<Soak>) {
    note(Happening::ShutdownsFromInside);
    let role = Role {
        is_brief: true,
        keep: Keep::Forget,
        traps_exits: false,
        ..Role::plain(0)
    };
    let life = world.birth(role);
    let actor = Actor::new(world, &life, role, false);
    match handle.submit(actor, role.method(), Token::new(Kind::Input)) {
        Ok(process) => {
            world.shutting.raise();
            process.on_exit(move |exit| {
                dispose(exit);
                drop(scheduler);
            });
        }
        Err(error) => {
            refused(world, &life, error);
            world.shutting.raise();
            drop(scheduler);
        }
    }
    settle("waiting for the end from inside", || {
        // Nobody ends those that do not end when they are asked.
        for life in world.lives() {
            if life.is_alive() && (life.role.is_stubborn || life.upgraded.is_up()) {
                life.terminated.raise();
                let _ = life.pid().map(|pid| handle.terminate(pid));
            }
        }
        let live = handle.live();
        (live > 0).then(|| format!("{live} processes live"))
    });
}

/// Checks, after the end of a scheduler, that nobody lives, and nobody can be submitted.
fn check_is_over(world: &Arc<World>, handle: &Handle<Soak>) {
    begin_stage("after the shutdown");
    let life = submit(world, handle, Role::plain(0));
    if life.started.is_up() {
        complain("a process was accepted after the shutdown");
    }
    settle("waiting for the last ends", || {
        let (live, known) = (handle.live(), world.roster.len());
        (live + known > 0).then(|| format!("{live} processes live, {known} ends were not told"))
    });
}
