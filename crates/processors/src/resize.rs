//! Another number of processors, while tasks run.
//!
//! The world is not stopped. Each processor changes hands by the same edges as ever, and a
//! processor that is to go is given up by its holder, whose deque nobody else fills: it can move
//! what is in it and be sure that nothing comes after.

use std::error::Error;
use std::fmt;
use std::io;

use filch_sync::atomic::{Ordering, fence};

use crate::Processors;
use crate::crew::{Crew, Turn, Work};
use crate::hold::Hold;
use crate::roster::Roster;

/// Why a pool does not have as many processors as it was told to have.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResizeError {
    /// A pool of no processors could never run anything.
    NoProcessors,
    /// More than [`Config::max_processors`](crate::Config::max_processors) said.
    TooManyProcessors {
        /// What was asked for.
        asked: usize,
        /// What is possible.
        most: usize,
    },
    /// The pool has not been started.
    NotRunning,
    /// The pool has been told to stop. If that came in the middle, some of the new processors may
    /// be there.
    Stopped,
    /// There is no thread for one of the new processors: the limit is reached, or the system
    /// refuses.
    Thread {
        /// So many processors there are now.
        reached: usize,
        /// What the system says; none if it was the pool's own limit.
        source: Option<io::Error>,
    },
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcessors => f.write_str("0 processors can run nothing: ask for at least 1"),
            Self::TooManyProcessors { asked, most } => write!(
                f,
                "{asked} processors are more than the {most} that the pool was made for: ask for fewer, \
                 or make it with a larger `max_processors`"
            ),
            Self::NotRunning => f.write_str("the pool has not been started"),
            Self::Stopped => f.write_str("the pool has been stopped"),
            Self::Thread {
                reached,
                source: None,
            } => write!(
                f,
                "no more threads than `thread_limit` says: there are {reached} processors now"
            ),
            Self::Thread {
                reached,
                source: Some(error),
            } => write!(
                f,
                "the system refused a thread ({error}): there are {reached} processors now"
            ),
        }
    }
}

impl Error for ResizeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Thread {
                source: Some(error),
                ..
            } => Some(error),
            _ => None,
        }
    }
}

impl Crew {
    /// Processors from `count` on are to be given up: idle ones at once, others by their holders,
    /// between two tasks.
    pub fn shrink(&self, count: usize, work: &impl Work) {
        let roster = self.roster();
        self.board.set_active(count);
        drop(roster);
        // ORDERING: partner of the fence in `go_idle`. Either the processor that goes idle now sees
        // the new number, or the sweep sees it on the stack. (The models fail without it. That
        // AcqRel would not do loom cannot show here, we do not know why; but with one SeqCst fence
        // only, both sides may read what is old.)
        fence(Ordering::SeqCst);
        self.sweep(work);
    }

    /// Lays down idle processors that are to be given up. For a moment the others are off the stack
    /// too: they go back as sleepers do, with a second look.
    pub(crate) fn sweep(&self, work: &impl Work) {
        let mut kept = Vec::new();
        let mut moved = false;
        {
            let mut roster = self.roster();
            while let Some((hold, machine)) = self.take_idle() {
                if self.notice().is_surplus(hold.processor()) {
                    moved |= work.evacuate(&hold);
                    self.lay_down(hold, &mut roster);
                    self.stand_by(machine, &mut roster);
                } else {
                    kept.push((hold, machine));
                }
            }
        }
        while let Some((hold, machine)) = kept.pop() {
            self.rest(hold, machine, false, work);
        }
        if moved {
            // For a moment these tasks were in no queue.
            self.wake_one();
        }
        self.announce_quiescence(work);
    }

    /// A running machine gives its processor up, if it still has to, and stands by.
    ///
    /// # Errors
    /// The hold, if the number of processors has been raised again.
    pub fn retire(&self, hold: Hold, machine: usize, work: &impl Work) -> Result<(), Hold> {
        self.lay_aside(hold, work, |roster| self.stand_by(machine, roster))
    }

    /// The holder of a processor gives it up, if it still has to; `part` says what becomes of the
    /// machine.
    pub(crate) fn lay_aside(
        &self,
        hold: Hold,
        work: &impl Work,
        part: impl FnOnce(&mut Roster),
    ) -> Result<(), Hold> {
        if work.evacuate(&hold) {
            // For a moment these tasks were in no queue.
            self.wake_one();
        }
        {
            let mut roster = self.roster();
            if !self.notice().is_surplus(hold.processor()) {
                return Err(hold);
            }
            part(&mut roster);
            self.lay_down(hold, &mut roster);
        }
        self.announce_quiescence(work);
        Ok(())
    }

    /// Starts a machine for each of the first `count` processors, all of which are at rest; `start`
    /// starts the thread for the place that it is told. Whether all could be had, and the pool has
    /// not been stopped meanwhile; if not, there is none.
    pub fn muster(&self, count: usize, mut start: impl FnMut(usize) -> bool) -> bool {
        let mut machines = Vec::new();
        while machines.len() < count {
            let place = self.vacancy(&mut self.roster());
            match place.filter(|&place| self.try_start(place, &mut start)) {
                Some(place) => machines.push(place),
                None => break,
            }
        }
        // Nobody runs before this, and so nobody who blocks could have taken one of the places.
        // Under one lock, so that the end does not come in between.
        let mut roster = self.roster();
        let complete = machines.len() == count && !roster.over;
        for (processor, machine) in machines.into_iter().enumerate() {
            let hold = complete.then(|| self.pick_up(processor, &mut roster));
            match hold.flatten() {
                Some(hold) => self.give(machine, Turn::Run(hold)),
                None => self.dismiss(machine, &mut roster),
            }
        }
        complete
    }

    /// Raises the number to `processor + 1`, from one less. A processor at rest is given to a
    /// machine that stands by, or one that `start` starts. Whether there was one, and the pool is
    /// not over.
    pub fn grow(&self, processor: usize, start: impl FnOnce(usize) -> bool) -> bool {
        let mut roster = self.roster();
        if roster.over {
            return false;
        }
        if roster.at_rest[processor].is_none() {
            // Its holder has not noticed yet that it was to give it up; now it need not.
            self.raise_active(processor + 1);
            return true;
        }
        let machine = match roster.spares.pop() {
            Some(spare) => spare,
            None => {
                let place = self.vacancy(&mut roster);
                drop(roster);
                let Some(place) = place.filter(|&place| self.try_start(place, start)) else {
                    return false;
                };
                roster = self.roster();
                place
            }
        };
        let hold = match roster.over {
            true => None,
            false => self.pick_up(processor, &mut roster),
        };
        let Some(hold) = hold else {
            self.dismiss(machine, &mut roster);
            return false;
        };
        self.raise_active(processor + 1);
        self.give(machine, Turn::Run(hold));
        true
    }

    fn raise_active(&self, count: usize) {
        if usize::from(self.notice().active) < count {
            self.board.set_active(count);
        }
    }

    /// Puts a processor to rest. Its deque must be empty.
    pub(crate) fn lay_down(&self, hold: Hold, roster: &mut Roster) {
        let processor = hold.processor();
        roster.at_rest[processor] = Some(hold);
        // ORDERING: Release, partner of the Acquire in `still_moment`: whoever does not count it
        // any more, sees what it left in the global queue, and that its machine went away.
        self.live.fetch_sub(1, Ordering::Release);
    }

    fn pick_up(&self, processor: usize, roster: &mut Roster) -> Option<Hold> {
        let hold = roster.at_rest[processor].take()?;
        // ORDERING: Relaxed: released with the change of the idle word, and by the first time that
        // it goes idle.
        self.live.fetch_add(1, Ordering::Relaxed);
        // Before anybody can run on it: it is awake without having been popped.
        self.idle.disturb();
        Some(hold)
    }
}

impl<T: Send + 'static> Processors<T> {
    /// Changes the number of processors, and returns the number that there were. From any thread,
    /// also from a task. One resize at a time: a second one waits for the first; blocking, but not
    /// for any task.
    ///
    /// New processors run at once, on threads that stand by or new ones. Of those that are too
    /// many, idle ones are given up at once, and running ones when their current task ends (or its
    /// next [`blocking`](Self::blocking) call begins): until then more tasks than `count` may run.
    /// What was left in their deques goes to the end of the global queue. Nothing runnable is lost,
    /// and nothing stops meanwhile.
    ///
    /// If it grows from one processor, a task that was scheduled just then by a running task may
    /// not wake a new processor before that one ends.
    ///
    /// # Errors
    /// See [`ResizeError`]. The number is unchanged, unless a thread could not be had: then it is
    /// as large as possible.
    pub fn resize(&self, count: usize) -> Result<usize, ResizeError> {
        let most = self.queues.processors.len();
        if count == 0 {
            return Err(ResizeError::NoProcessors);
        }
        if count > most {
            return Err(ResizeError::TooManyProcessors { asked: count, most });
        }
        let _one_at_a_time = crate::lock(&self.threads.resizing);
        // In this order: who has none because the pool is over, sees that it has been stopped.
        let not_started = crate::lock(&self.starter).is_none();
        if self.is_stopping() {
            return Err(ResizeError::Stopped);
        }
        if not_started {
            return Err(ResizeError::NotRunning);
        }
        let before = self.count();
        self.grow_to(before, count)?;
        if count < before {
            self.crew.shrink(count, &self.queues);
        }
        Ok(before)
    }

    /// Starts the processors from `before` up to `count`. The caller has the lock.
    fn grow_to(&self, before: usize, count: usize) -> Result<(), ResizeError> {
        self.queues.reach(count);
        for processor in before..count {
            let mut source = None;
            let grown = self.crew.grow(processor, |machine| {
                source = self.try_start_thread(machine).err();
                source.is_none()
            });
            if !grown {
                // All others may have left meanwhile, and relied on this one.
                self.end_if_deserted();
                return Err(match self.crew.is_over() {
                    true => ResizeError::Stopped,
                    false => ResizeError::Thread {
                        reached: processor,
                        source,
                    },
                });
            }
        }
        Ok(())
    }
}
