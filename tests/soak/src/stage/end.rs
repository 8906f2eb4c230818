//! The end of a phase: everybody ends, every end is told, and nothing is left.

use std::sync::Arc;

use filch_actors::prelude::*;
use filch_scheduler::{Handle, JoinError};

use crate::account::{Happening, Word, alive, begin_stage, complain, dispose, note};
use crate::cast::{Doer, Soak, World, name_of};
use crate::machine;
use crate::random::Random;
use crate::stage::burst::{PATIENCE, check_sums, join_futures, settle};

/// Ends all processes, by asking some and terminating others.
pub(crate) fn end_all(world: &Arc<World>, handle: &Handle<Soak>, seed: u64) {
    begin_stage("ending all");
    let (mut random, mut pen) = (Random::new(seed), world.pen());
    for life in world.lives() {
        if !life.is_alive() {
            continue;
        }
        if life.role.mailbox.is_some() || random.percent(20) {
            life.terminated.raise();
            note(Happening::Terminations);
            // If it is refused, a link has ended it meanwhile.
            let _ = life.pid().map(|pid| handle.terminate(pid));
        } else {
            let pen = &mut pen;
            Doer { world, handle, pen }.send(&life, Word::Finish, false);
        }
    }
    settle("waiting for all ends", || {
        let (live, known) = (handle.live(), world.roster.len());
        if live + known > 0 {
            return Some(format!("{live} processes live, {known} ends were not told"));
        }
        world.unrest(handle)
    });
    begin_stage("after all ends");
    let left = handle.processes();
    if !left.is_empty() {
        complain(format!("all have ended, and the table has {left:?}"));
    }
    for name in 0..world.mix.names {
        if let Some(pid) = handle.whereis(&name_of(world, name)) {
            complain(format!("all have ended, and name {name} is that of {pid}"));
        }
    }
    check_sums(&world.roster, handle, world.has_handler);
}

/// Joins all whose ends were not told yet, and checks every life.
pub(crate) fn take_leave(world: &Arc<World>) {
    begin_stage("taking leave");
    join_futures(world);
    let shutting = world.shutting.is_up();
    while let Some((life, process)) = world.take_handle(0) {
        // An exit is told after the end was counted.
        let exit = match process.join_timeout(PATIENCE) {
            Ok(output) => Ok(output),
            Err(JoinError::Process(error)) => Err(error),
            Err(error) => {
                complain(format!("{life} has ended, and cannot be joined: {error}"));
                continue;
            }
        };
        note(Happening::Joined);
        life.exits(&exit, shutting);
        dispose(exit);
    }
    // `on_exit` calls are made after the end was counted.
    settle("waiting for all exits", || {
        let lives = world.lives();
        let untold = lives.iter().find(|life| life.owes_exit())?;
        Some(format!("the exit of {untold} was not told"))
    });
    world.lives().iter().for_each(|life| life.check_over());
    world.watches.check_reasons();
}

/// Drops the phase's state, and checks that nothing of it is left.
pub(crate) fn clear_away(world: Arc<World>, threads: Option<usize>) {
    world.release();
    world.unbind();
    settle("waiting for the last references", || {
        let others = Arc::strong_count(&world) - 1;
        (others > 0).then(|| format!("{others} values of the phase are held by someone"))
    });
    drop(world);
    settle("waiting for the last values", || {
        let alive = alive();
        (!alive.is_empty()).then(|| format!("values were not dropped: {alive:?}"))
    });
    wait_for_threads(threads);
}

/// Waits until there are as many threads as before.
pub(crate) fn wait_for_threads(before: Option<usize>) {
    settle("waiting for the last threads", || {
        let (before, now) = (before?, machine::threads()?);
        if now > before {
            let names = machine::thread_names().join(", ");
            return Some(format!("{now} threads, and {before} before: {names}"));
        }
        None
    });
}
