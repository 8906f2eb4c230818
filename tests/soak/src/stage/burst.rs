//! A burst: threads outside that carry out their scripts; and the rest after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::prelude::*;
use filch_scheduler::Handle;

use crate::account::{begin_stage, complain, dispose, lock, progress};
use crate::cast::{Doer, Roster, Soak, World, name_of};
use crate::machine::hang;
use crate::plan::{Burst, Deed};

/// Carries out the scripts, and `meanwhile` on this thread. Returns when all are done.
pub(crate) fn carry_out<R>(
    world: &Arc<World>,
    handle: &Handle<Soak>,
    burst: &Burst,
    meanwhile: impl FnOnce() -> R,
) -> R {
    thread::scope(|scope| {
        for script in &burst.scripts {
            scope.spawn(|| follow(world, handle, script));
        }
        meanwhile()
    })
}

fn follow(world: &Arc<World>, handle: &Handle<Soak>, script: &[Deed]) {
    let mut pen = world.pen();
    for deed in script {
        let pen = &mut pen;
        let mut doer = Doer { world, handle, pen };
        // The scheduler must contain planned panics.
        if catch_unwind(AssertUnwindSafe(|| doer.perform(*deed))).is_err() {
            complain(format!("a panic came out of the scheduler, of {deed:?}"));
        }
        progress();
    }
}

/// The time limit for coming to rest.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `unrest` finds nothing more.
pub(crate) fn settle(stage: &'static str, mut unrest: impl FnMut() -> Option<String>) {
    begin_stage(stage);
    let began = Instant::now();
    let mut pause = Duration::from_micros(50);
    while let Some(unrest) = unrest() {
        if began.elapsed() > PATIENCE {
            complain(format!("after {PATIENCE:?} still: {unrest}"));
            hang(&unrest);
        }
        thread::park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Lets the burst come to rest, and checks what must hold then.
pub(crate) fn come_to_rest(world: &Arc<World>, handle: &Handle<Soak>) {
    settle("coming to rest", || {
        world.release();
        world.unrest(handle)
    });
    // An end is counted after the hook was told, and for a future there is no other sign of it.
    settle("counting the living", || {
        let (live, known) = (handle.live(), world.roster.len());
        (live != known).then(|| format!("{live} processes live, and {known} have not ended"))
    });
    begin_stage("at rest");
    join_futures(world);
    check_sums(&world.roster, handle, world.has_handler);
    for name in 0..world.mix.names {
        if let Some(pid) = handle.whereis(&name_of(world, name))
            && world.roster.find(pid).is_none()
        {
            complain(format!("name {name} is that of {pid}, which has ended"));
        }
    }
}

/// Joins the futures that were kept: all have ended.
pub(crate) fn join_futures(world: &World) {
    let futures = std::mem::take(&mut *lock(&world.futures));
    for spawned in futures {
        match spawned.handle.join() {
            Ok(output) => {
                let exit = Ok(output);
                spawned.fate.ended(&exit, world.shutting.is_up());
                dispose(exit);
            }
            Err(filch_scheduler::JoinError::Process(error)) => {
                spawned.fate.ended(&Err(error), world.shutting.is_up());
            }
            Err(error) => complain(format!("a future cannot be joined: {error}")),
        }
    }
}

/// Compares the scheduler's statistics with what was done.
pub(crate) fn check_sums(roster: &Roster, handle: &Handle<Soak>, has_handler: bool) {
    let total = handle.stats().total();
    let sums = [
        ("steps", total.steps, roster.steps.get()),
        (
            "events",
            total.messages + total.completions,
            roster.events.get(),
        ),
        ("ends", total.ended, roster.ended.get()),
        ("failures", total.failed, roster.failed.get()),
        (
            "commands",
            if has_handler { total.commands } else { 0 },
            roster.commands.get(),
        ),
    ];
    for (name, said, counted) in sums {
        if said != counted as u64 {
            complain(format!(
                "the statistics say {said} {name}, and there were {counted}"
            ));
        }
    }
}
