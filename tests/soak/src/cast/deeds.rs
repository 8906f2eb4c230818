//! Does the deeds of a script, on a thread outside or in a step.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use filch_actors::RegisterError;
use filch_actors::prelude::*;
use filch_scheduler::{Handle, JoinError};

use crate::account::{Happening, Kind, Life, Pen, Token, Word, complain, dispose, lock, note};
use crate::cast::{Actor, Soak, World, spawn, submit};
use crate::plan::{Begin, Deed, Peer, Role};
use crate::random::Random;

/// A thread or a process that does something.
pub(crate) struct Doer<'a> {
    pub(crate) world: &'a Arc<World>,
    pub(crate) handle: &'a Handle<Soak>,
    pub(crate) pen: &'a mut Pen,
}

impl Doer<'_> {
    pub(crate) fn perform(&mut self, deed: Deed) {
        let (world, handle) = (self.world, self.handle);
        match deed {
            Deed::Submit(role) => drop(submit(world, handle, role)),
            Deed::Crowd { role, count } => {
                for index in 0..u64::from(count) {
                    let seed = role.seed.wrapping_add(index);
                    submit(world, handle, Role { seed, ..role });
                }
            }
            Deed::Spawn(role) => spawn(world, handle, role),
            Deed::Send { to, word, is_bomb } => self.with(to, |doer, to| {
                doer.send(to, word, is_bomb);
            }),
            Deed::Flood { to, count } => self.with(to, |doer, to| {
                (0..count).for_each(|_| doer.send(to, Word::Note, false));
            }),
            Deed::SendAt { to, micros } => self.with(to, |doer, to| doer.send_at(to, micros)),
            Deed::Every { to, micros } => self.with(to, |doer, to| doer.every(to, micros)),
            Deed::Terminate(peer) => self.with(peer, |doer, life| doer.terminate(life)),
            Deed::Monitor { by, of } => self.with_two(by, of, |doer, by, of| {
                if let (Some(watcher), Some(watched)) = (by.pid(), of.pid()) {
                    let monitor = doer.handle.monitor(watcher, watched);
                    doer.world.watches.monitored(monitor, by, of);
                }
            }),
            Deed::Demonitor(index) => world.watches.demonitor(index),
            Deed::Link { one, other } => self.with_two(one, other, |doer, one, other| {
                if let (Some(first), Some(second)) = (one.pid(), other.pid()) {
                    one.linked.raise();
                    other.linked.raise();
                    let link = doer.handle.link(first, second);
                    doer.world.watches.linked(link, one, other);
                }
            }),
            Deed::Unlink(index) => world.watches.unlink(index),
            Deed::Name { of, name } => self.with(of, |doer, life| doer.name(life, name)),
            Deed::Unname { name } => {
                if handle.unregister(&name_of(world, name)).is_some() {
                    note(Happening::Unnamed);
                }
            }
            Deed::Upgrade { of, role } => self.with(of, |doer, life| doer.upgrade(life, role)),
            Deed::Answer { count, seed } => {
                let mut random = Random::new(seed);
                (0..count).for_each(|_| world.shelf.answer_one(&mut random));
            }
            Deed::Abort(index) => {
                let futures = lock(&world.futures);
                if let Some(place) = index.checked_rem(futures.len() as u64) {
                    let spawned = &futures[place as usize];
                    spawned.fate.aborted.raise();
                    spawned.handle.abort();
                }
            }
            Deed::Wake => world.tide.wake(),
            Deed::TryJoin(index) => self.try_join(index),
            Deed::Look(peer) => self.look(peer),
            Deed::Block { micros } => {
                note(Happening::Blocked);
                handle.blocking(|| thread::park_timeout(Duration::from_micros(micros)));
            }
            Deed::Reserve => match handle.reserve_thread() {
                Ok(thread) => {
                    note(Happening::BoundThreads);
                    drop(world.bind(thread));
                }
                Err(_) if world.shutting.is_up() => {}
                Err(error) => complain(format!("no thread could be reserved: {error}")),
            },
            Deed::Pause { micros } => thread::park_timeout(Duration::from_micros(micros)),
        }
    }

    fn with(&mut self, peer: Peer, deed: impl FnOnce(&mut Self, &Arc<Life>)) {
        if let Some(life) = self.world.peer(peer) {
            deed(self, &life);
        }
    }

    /// Does something with two processes that are not the same.
    fn with_two(
        &mut self,
        one: Peer,
        other: Peer,
        deed: impl FnOnce(&mut Self, &Arc<Life>, &Arc<Life>),
    ) {
        self.with(one, |doer, one| {
            doer.with(other, |doer, other| {
                if !Arc::ptr_eq(one, other) {
                    deed(doer, one, other);
                }
            });
        });
    }

    pub(crate) fn send(&mut self, to: &Arc<Life>, word: Word, is_bomb: bool) {
        let Some(pid) = to.pid() else {
            return;
        };
        if let Err(mut refused) = self.handle.send(pid, self.pen.write(to, word, is_bomb)) {
            refused.message.handed_back(refused.reason);
            dispose(refused);
        }
    }

    fn send_at(&mut self, to: &Arc<Life>, micros: u64) {
        if let Some(pid) = to.pid() {
            let deadline = Instant::now() + Duration::from_micros(micros);
            let letter = self.world.pen().write(to, Word::Note, false).timed();
            let timers = &self.world.timers;
            if let Err(error) = timers.send_at(deadline, self.handle, pid, letter) {
                complain(format!("no message in {micros} µs: {error}"));
            }
        }
    }

    fn every(&mut self, to: &Arc<Life>, micros: u64) {
        let Some(pid) = to.pid() else {
            return;
        };
        let (mut pen, life) = (self.world.pen(), Arc::clone(to));
        let token = Token::new(Kind::Closure);
        let message = move || {
            let _token = &token;
            pen.write(&life, Word::Note, false).timed()
        };
        let period = Duration::from_micros(micros);
        let timers = &self.world.timers;
        match timers.interval(period, self.handle, pid, message) {
            Ok(interval) => self.world.ticks(interval),
            Err(error) => complain(format!("no interval of {micros} µs: {error}")),
        }
    }

    fn terminate(&self, life: &Life) {
        let Some(pid) = life.pid() else {
            return;
        };
        life.terminated.raise();
        note(Happening::Terminations);
        if self.handle.terminate(pid).is_err() {
            life.is_said_to_be_gone();
        }
    }

    fn name(&self, life: &Life, name: u16) {
        let Some(pid) = life.pid() else {
            return;
        };
        match self.handle.register(&name_of(self.world, name), pid) {
            Ok(()) => note(Happening::Named),
            Err(RegisterError::Taken { .. }) => note(Happening::NameTaken),
            Err(RegisterError::NoSuchProcess(_)) => life.is_said_to_be_gone(),
            Err(error) => complain(format!("{life} lives, and gets no name: {error}")),
        }
    }

    fn upgrade(&self, life: &Arc<Life>, role: Role) {
        let Some(pid) = life.pid() else {
            return;
        };
        // A thread may wait for a process that is brief.
        let role = Role {
            is_brief: life.role.is_brief,
            ..role
        };
        if role.begin != Begin::Well {
            life.upgraded_badly.raise();
        }
        note(Happening::UpgradedOutside);
        let next = Box::new(Actor::version(self.world, life, role));
        let input = Token::new(Kind::Input);
        if let Err(error) = self.handle.upgrade(pid, next, role.method(), input) {
            life.is_said_to_be_gone();
            dispose(error);
        }
    }

    fn try_join(&self, index: u64) {
        let Some((life, process)) = self.world.take_handle(index) else {
            return;
        };
        let exit = match index % 3 {
            0 => process.join_timeout(Duration::from_micros(100)),
            _ => process.try_join(),
        };
        let exit = match exit {
            Ok(output) => Ok(output),
            Err(JoinError::Process(error)) => Err(error),
            Err(JoinError::NotYet(process)) => return self.world.keep(&life, process),
            Err(JoinError::CalledFromInside(process)) => {
                complain("a thread outside was taken for a worker");
                return self.world.keep(&life, process);
            }
            Err(_) => unreachable!("that is all"),
        };
        note(Happening::Joined);
        life.exits(&exit, self.world.shutting.is_up());
        dispose(exit);
    }

    fn look(&self, peer: Peer) {
        note(Happening::Looked);
        let handle = self.handle;
        match peer % 4 {
            0 => {
                // Each number was true at some moment of its call, not all at one.
                let failed = handle.stats().total().failed;
                let stats = handle.stats();
                if failed > stats.total().ended {
                    complain(format!("{failed} have failed, fewer ended: {stats:?}"));
                }
            }
            1 => drop(handle.dump().to_string()),
            2 => {
                for info in handle.list() {
                    if info
                        .undelivered
                        .is_some_and(|undelivered| undelivered > 1000)
                    {
                        complain(format!("a mailbox of 20 at most: {info:?}"));
                    }
                }
            }
            _ => {
                if let Some(life) = self.world.peer(peer / 4)
                    && let Some(pid) = life.pid()
                    && handle.info(pid).is_none()
                {
                    life.is_said_to_be_gone();
                }
            }
        }
    }
}

/// Returns the name of that number in this phase.
pub(crate) fn name_of(world: &World, name: u16) -> String {
    format!("{}-{name}", world.prefix)
}
