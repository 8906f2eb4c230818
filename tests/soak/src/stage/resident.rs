//! The scheduler that stays from phase to phase: what it kept of ended processes would add up.

use std::sync::Arc;
use std::thread;

use filch_actors::prelude::*;
use filch_scheduler::{Handle, Scheduler};

use crate::account::{Happening, Life, Word, begin_stage, complain, note, progress};
use crate::cast::{Doer, Handler, Hooks, Roster, Soak, World, submit};
use crate::machine;
use crate::plan::{Burst, Faults, Flood, MOST_FLOODED, Mix, Role};
use crate::stage::burst::{carry_out, come_to_rest};
use crate::stage::end::{clear_away, end_all, take_leave, wait_for_threads};

/// The number of its workers.
const WORKERS: usize = 2;

/// The most processes that live in it at a time.
const LIMIT: usize = 2 * MOST_FLOODED as usize;

/// The number of its blocking threads, which stay, once started.
const BLOCKING_THREADS: usize = 2;

/// The most further threads that it may start, for blocking calls. They stay as spares.
const SPARE: usize = 16;

/// A scheduler that stays.
pub(crate) struct Resident {
    scheduler: Scheduler<Soak>,
    roster: Arc<Roster>,
    /// The number of threads before it was built.
    threads: Option<usize>,
}

impl Resident {
    /// Builds it.
    pub(crate) fn build() -> Option<Self> {
        let roster = Arc::new(Roster::default());
        let threads = machine::threads();
        let handler = Handler::new(BLOCKING_THREADS);
        let scheduler = Scheduler::builder()
            .workers(WORKERS)
            .limit(LIMIT)
            .handler(move |errand, completion| handler.handle(errand, completion))
            .hooks(Hooks(Arc::clone(&roster)))
            .build();
        match scheduler {
            Ok(scheduler) => {
                note(Happening::Schedulers);
                Some(Self {
                    scheduler,
                    roster,
                    threads,
                })
            }
            Err(error) => {
                complain(format!("no resident scheduler: {error}"));
                None
            }
        }
    }

    /// Carries out a burst that comes to rest and ends.
    pub(crate) fn burst(&self, burst: &Burst, number: u64) {
        self.act(burst.mix, number, burst.seed, |world, handle| {
            begin_stage("burst");
            carry_out(world, handle, burst, || {});
        });
    }

    /// Carries out a flood: many processes, and many messages for each.
    pub(crate) fn flood(&self, flood: &Flood, number: u64) {
        let mix = Mix {
            faults: Faults::None,
            energy: 0,
            flood: 1,
            crowd: 1,
            names: 1,
            reserves: false,
        };
        self.act(mix, number, flood.seed, |world, handle| {
            begin_stage("flood");
            pour(flood, world, handle);
        });
    }

    fn act(
        &self,
        mix: Mix,
        number: u64,
        seed: u64,
        deeds: impl FnOnce(&Arc<World>, &Handle<Soak>),
    ) {
        let handle = self.scheduler.handle();
        machine::show(Some(&handle));
        let prefix = format!("resident-{number}");
        let world = match World::new(mix, Some(LIMIT), true, prefix, &self.roster) {
            Ok(world) => world,
            Err(error) => return complain(format!("no timers: {error}")),
        };
        deeds(&world, &handle);
        come_to_rest(&world, &handle);
        end_all(&world, &handle, seed);
        take_leave(&world);
        machine::show(None);
        clear_away(world, self.threads.map(|threads| threads + WORKERS + SPARE));
    }

    /// Shuts it down.
    pub(crate) fn end(self) {
        begin_stage("the end of the resident scheduler");
        drop(self.scheduler);
        wait_for_threads(self.threads);
    }
}

/// Submits the processes, names them, and sends from two threads at a time.
fn pour(flood: &Flood, world: &Arc<World>, handle: &Handle<Soak>) {
    let lives: Vec<Arc<Life>> = (0..flood.processes)
        .map(|index| {
            let role = Role {
                asks: flood.commands,
                ..Role::plain(flood.seed.wrapping_add(index.into()))
            };
            let life = submit(world, handle, role);
            for _ in 0..flood.names {
                name(world, handle, &life);
            }
            life
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let pen = &mut world.pen();
                let mut doer = Doer { world, handle, pen };
                for _ in 0..flood.messages / 2 {
                    for life in &lives {
                        doer.send(life, Word::Note, false);
                    }
                    progress();
                }
            });
        }
    });
    if flood.is_killed {
        for life in &lives {
            life.terminated.raise();
            note(Happening::Terminations);
            // None has another reason to end.
            if life.pid().is_none_or(|pid| handle.terminate(pid).is_err()) {
                complain(format!("{life} cannot be terminated"));
            }
        }
    }
}

/// Gives the process a name that was never used before.
fn name(world: &Arc<World>, handle: &Handle<Soak>, life: &Arc<Life>) {
    let number = world.names_given.add(1);
    let name = format!("{}-of-many-{number}", world.prefix);
    let Some(pid) = life.pid() else {
        return;
    };
    if let Err(error) = handle.register(&name, pid) {
        complain(format!("{life} gets no name: {error}"));
    }
    note(Happening::Named);
}
