//! The command handler: it answers, fails, panics, forgets, and delegates.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_actors::BlockingThreads;
use filch_actors::prelude::*;
use filch_scheduler::Completion;

use crate::account::Kind;
use crate::cast::{Errand, Fault, Held, Parcel, Soak, Way};

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
