//! The command handler: it answers, fails, panics, forgets, and delegates. And the hooks of the
//! scheduler: they count every life, refuse some, and panic.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_actors::BlockingThreads;
use filch_actors::prelude::*;
use filch_scheduler::{Completion, Context, ExitReason, ExitRef, LifeCycle, Process};

use crate::account::{Happening, Kind, note};
use crate::cast::{Errand, Fault, Held, Parcel, Roster, Soak, Way};
use crate::plan::Hook;

/// Carries out the commands.
pub(crate) struct Handler(BlockingThreads);

impl Handler {
    pub(crate) fn new(threads: usize) -> Self {
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        Self(BlockingThreads::new(threads))
    }

    pub(crate) fn handle(&self, errand: Errand, completion: Completion<Soak>) {
        let world = Arc::clone(&errand.world);
        world.roster.commands.add(1);
        let (tag, is_bomb) = (completion.tag(), errand.reply_bomb);
        let reply = move || Parcel::new(Kind::Reply, tag, is_bomb);
        match errand.way {
            Way::Answer => completion.complete(reply()),
            Way::Fail => completion.fail(Fault::new(false)),
            Way::Panic => panic!("soak: the handler"),
            Way::AnswerThenPanic => {
                completion.complete(reply());
                panic!("soak: the handler, too late");
            }
            Way::Abandon => drop(completion),
            Way::Shelve => world.shelf.put(Held::Free(completion), is_bomb),
            Way::Thread => self.0.run(completion, move || {
                let _errand = errand;
                Ok(reply())
            }),
            Way::ThreadFails => self.0.run(completion, move || {
                let _errand = errand;
                Err(Fault::new(false))
            }),
            Way::ThreadPanics => self.0.run(completion, move || {
                let _errand = errand;
                panic!("soak: a blocking thread");
            }),
            Way::Later(micros) => {
                let delay = Duration::from_micros(micros);
                let set = world.timers.complete_after(delay, completion, reply());
                assert!(set.is_ok(), "the timers are shut down");
            }
            Way::Deadline(micros) => {
                let deadline = Instant::now() + Duration::from_micros(micros);
                let timers = &world.timers;
                let bounded = timers.deadline(deadline, completion, Fault::new(false));
                let bounded = bounded.expect("its timers run");
                world.shelf.put(Held::Bounded(bounded), is_bomb);
            }
        }
    }
}

/// Tells the roster of every life.
pub(crate) struct Hooks(pub(crate) Arc<Roster>);

impl LifeCycle<Soak> for Hooks {
    fn on_start(
        &self,
        context: &Context<'_, Soak>,
        _: &dyn Process<Soak>,
        _: &str,
    ) -> Result<(), Fault> {
        // A process has registered its PID in `init`; a future has not.
        let Some(life) = self.0.find(context.pid()) else {
            return Ok(());
        };
        match life.role.hook {
            Hook::Refuses => Err(Fault::new(false)),
            Hook::PanicsAtStart => panic!("soak: the start hook"),
            Hook::Quiet | Hook::PanicsAtEnd => {
                life.started.raise();
                note(Happening::Submitted);
                Ok(())
            }
        }
    }

    fn on_complete(
        &self,
        context: &Context<'_, Soak>,
        reason: &ExitReason,
        exit: ExitRef<'_, Soak>,
    ) {
        assert_eq!(exit.is_ok(), reason.is_normal(), "{reason}");
        self.0.ended.add(1);
        self.0.failed.add(i64::from(!reason.is_normal()));
        if let Some(life) = self.0.leave(context.pid()) {
            life.completes(reason);
            if life.role.hook == Hook::PanicsAtEnd {
                note(Happening::HookPanicked);
                panic!("soak: the end hook");
            }
        }
    }
}
