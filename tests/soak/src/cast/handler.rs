//! The command handler: it answers, fails, panics, forgets, and delegates.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use filch_actors::{BlockingThreads, ExecuteError};
use filch_scheduler::{CommandHandler, Completion};

use crate::account::token::{Kind, Token, dispose};
use crate::cast::actor::Actor;
use crate::cast::shelf::Held;
use crate::cast::submit::refused;
use crate::cast::vocabulary::{Errand, Fault, Parcel, Soak, Way};
use crate::plan::role::Role;

/// Carries out the commands.
pub(crate) struct Handler(BlockingThreads);

impl Handler {
    pub(crate) fn new(threads: usize) -> Self {
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        Self(BlockingThreads::new(threads))
    }
}

impl CommandHandler<Soak> for Handler {
    fn handle(&self, errand: Errand, completion: Completion<Soak>) {
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
                world.timers.complete_after(delay, completion, reply());
            }
            Way::Deadline(micros) => {
                let deadline = Instant::now() + Duration::from_micros(micros);
                let timers = &world.timers;
                let bounded = timers.deadline(deadline, completion, Fault::new(false));
                world.shelf.put(Held::Bounded(bounded, tag), is_bomb);
            }
            Way::Child(role) => have_done(&errand, completion, role, reply),
        }
    }
}

/// Makes a process carry out the command.
fn have_done(
    errand: &Errand,
    completion: Completion<Soak>,
    role: Role,
    reply: impl FnOnce() -> Parcel + Send + 'static,
) {
    let world = Arc::clone(&errand.world);
    // It is submitted without options.
    let role = Role {
        traps_exits: false,
        mailbox: None,
        is_child: true,
        ..role
    };
    let life = world.birth(role);
    life.exits_due.add(1);
    let actor = Actor::new(&world, &life, role, false);
    let token = Token::new(Kind::Closure);
    let told = move |exit| {
        let _token = token;
        let exit = match exit {
            Ok(output) => Ok(output),
            Err(ExecuteError::Process(error)) => Err(error),
            Err(ExecuteError::Submit(error)) => {
                life.exits_due.add(-1);
                refused(&world, &life, error);
                return Err(Fault::new(false));
            }
            Err(_) => unreachable!("no thread waits"),
        };
        life.exits(&exit, world.shutting.is_up());
        let is_well = exit.is_ok();
        dispose(exit);
        if is_well {
            Ok(reply())
        } else {
            Err(Fault::new(false))
        }
    };
    let input = Token::new(Kind::Input);
    // Its accounts have its PID.
    let _pid = filch_actors::execute_for(completion, actor, role.method(), input, told);
}
