//! The life of a worker, stage by stage.
//!
//! Each stage is entered once, and left when all of it is done; one that cannot go on gives way and
//! is tried again. A worker that must end jumps to the first stage of its ending, from any stage:
//! it need not give back what it never had.

use std::cell::RefCell;
use std::sync::Arc;

use filch_data_cell::{Access, LockError};
use filch_sync::panic::{catch_panic, drop_contained};

use crate::context::Context;
use crate::data::{Place, Role};
use crate::error::Exit;
use crate::worker::bound::{Bound, Denied};
use crate::worker::cell::WorkerCell;
use crate::worker::home::Turn;
use crate::worker::public::{Stage, WaitsFor};
use crate::worker::spec::Setup;

/// The number of tasks that a worker runs before others have their turn.
pub(crate) const TASKS_A_TURN: usize = 64;

/// The outcome of a step of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to do.
    Again,
    /// The worker can do nothing now: others come first.
    GiveWay,
    /// It has ended.
    Gone,
}

impl WorkerCell {
    /// Takes the next step of its life.
    pub(crate) fn advance(&self, turn: &Turn<'_>) -> Step {
        let stage = self.public.stage();
        if stage < Stage::UnbindsShared && self.is_ending() {
            return self.enter(turn, Stage::UnbindsShared);
        }
        match stage {
            Stage::MakesOwn => self.make(turn, Role::Owner, Stage::SetsUpOwn),
            Stage::SetsUpOwn => self.set_up_own(turn),
            Stage::MakesLocal => self.make(turn, Role::Local, Stage::BindsGroup),
            Stage::BindsGroup => self.bind_all(turn, Role::Group, Stage::BindsShared),
            Stage::BindsShared => match self.bind_all(turn, Role::Shared, Stage::SetsUp) {
                Step::Again => {
                    self.bind();
                    Step::Again
                }
                step => step,
            },
            Stage::SetsUp => self.set_up(turn),
            Stage::Runs => self.run(turn),
            Stage::UnbindsShared => self.let_go(turn, Role::Shared, Stage::UnbindsGroup),
            Stage::UnbindsGroup => self.let_go(turn, Role::Group, Stage::DropsLocal),
            Stage::DropsLocal => self.let_go(turn, Role::Local, Stage::DropsOwn),
            Stage::DropsOwn => self.destroy_own(turn),
            Stage::EmptiesQueue => {
                self.empty_queue();
                self.enter(turn, Stage::Gone)
            }
            Stage::Gone => Step::Gone,
        }
    }

    fn enter(&self, turn: &Turn<'_>, stage: Stage) -> Step {
        self.show_wait(None);
        self.public.enter(stage);
        turn.home.has_progressed();
        match stage {
            Stage::Gone => Step::Gone,
            _ => Step::Again,
        }
    }

    /// Ends the worker, as its code panicked.
    fn panicked(&self, during: &'static str, message: String) -> Step {
        self.tell_to_end(Exit::Panicked { during, message });
        Step::Again
    }

    /// Makes the data with that role.
    fn make(&self, turn: &Turn<'_>, role: Role, next: Stage) -> Step {
        loop {
            let made = {
                let mut makers = self.makers.borrow_mut();
                let first = makers.iter().position(|(listed, _)| listed.role == role);
                first.map(|first| makers.remove(first))
            };
            let Some((listed, make)) = made else {
                return self.enter(turn, next);
            };
            match catch_panic(make) {
                Ok(place) => self.data.borrow_mut().insert(listed, place),
                Err(message) => return self.panicked(listed.name, message),
            }
        }
    }

    fn set_up_own(&self, turn: &Turn<'_>) -> Step {
        if let Err(step) = self.call_all(turn, &self.setup_owner, "setup_owner") {
            return step;
        }
        let data = self.data.borrow();
        for (listed, cell) in data.owned() {
            turn.home.owners.publish(listed.id, cell);
        }
        turn.home.links.wake_all();
        self.enter(turn, Stage::MakesLocal)
    }

    /// Finds the data that others own.
    fn bind_all(&self, turn: &Turn<'_>, role: Role, next: Stage) -> Step {
        for listed in self.lists.iter().filter(|listed| listed.role == role) {
            if self.data.borrow().get(listed.id).is_some() {
                continue;
            }
            let Some((scheduler, cell)) = turn.home.owners.find(listed.id) else {
                self.show_wait(Some(WaitsFor::Owner(listed.name)));
                return Step::GiveWay;
            };
            if role == Role::Group && scheduler != turn.home.number {
                self.tell_to_end(Exit::NotInGroup(listed.name));
                return Step::Again;
            }
            let place = Place::Shared(cell);
            self.data.borrow_mut().insert(*listed, place);
        }
        self.enter(turn, next)
    }

    fn set_up(&self, turn: &Turn<'_>) -> Step {
        match self.call_all(turn, &self.setup, "setup") {
            Ok(()) => self.enter(turn, Stage::Runs),
            Err(step) => step,
        }
    }

    /// Calls each of the functions once, with its data locked.
    fn call_all(
        &self,
        turn: &Turn<'_>,
        functions: &RefCell<Vec<Box<dyn Setup>>>,
        during: &'static str,
    ) -> Result<(), Step> {
        loop {
            let Some(requests) = functions.borrow().first().map(|first| first.requests()) else {
                return Ok(());
            };
            let Ok(bound) = Bound::new(requests, &self.data.borrow(), &self.public) else {
                unreachable!("looked at when it was added, and all is there");
            };
            let called = self.call(turn.home, &bound, |data| {
                let function = functions.borrow_mut().remove(0);
                // SAFETY: `bound` is of its parameters, and locked.
                unsafe {
                    function.call(data, Context(turn));
                }
            });
            match called {
                Ok(Ok(())) => {}
                Ok(Err(message)) => return Err(self.panicked(during, message)),
                Err(denied) => {
                    self.denied(denied);
                    let is_held = matches!(denied, Denied::Held(_));
                    return Err(if is_held { Step::GiveWay } else { Step::Again });
                }
            }
        }
    }

    /// Calls its own `run` once, or runs its tasks as they come.
    fn run(&self, turn: &Turn<'_>) -> Step {
        let own = self.run.borrow_mut().take();
        if let Some(run) = own {
            match catch_panic(|| run(Context(turn))) {
                Ok(()) => self.tell_to_end(Exit::Finished),
                Err(message) => return self.panicked("run", message),
            }
            return Step::Again;
        }
        for _ in 0..TASKS_A_TURN {
            if self.is_ending() || !self.run_oldest(turn) {
                break;
            }
            turn.home.has_progressed();
        }
        // Nothing else may wake the scheduler for its ending.
        if self.is_ending() {
            return Step::Again;
        }
        Step::GiveWay
    }

    /// Lets go of the data with that role, last first, which drops local data.
    fn let_go(&self, turn: &Turn<'_>, role: Role, next: Stage) -> Step {
        // No pointer to the data stays.
        self.unbind();
        loop {
            let last = self.data.borrow_mut().take(role);
            match last {
                Some(data) => drop_contained(data),
                None => break,
            }
        }
        self.enter(turn, next)
    }

    /// Makes the users of its own data end; once there are none, destroys the data, last first.
    fn destroy_own(&self, turn: &Turn<'_>) -> Step {
        self.announce_end(turn);
        loop {
            let last = {
                let data = self.data.borrow();
                let last = data.owned().next_back();
                last.map(|(listed, cell)| (listed.name, Arc::clone(cell)))
            };
            let Some((name, cell)) = last else { break };
            // A destructor that panics has destroyed it.
            if let Ok(Err(LockError::Held)) = catch_panic(|| cell.end()) {
                self.show_wait(Some(WaitsFor::Users(name)));
                self.public.gave_way.add_one();
                // An end of somebody else's use wakes this.
                if !cell.wait(turn.home.number, Access::Write) {
                    turn.home.has_progressed();
                }
                return Step::GiveWay;
            }
            turn.home.links.wake_each(cell.take_waiting());
            self.data.borrow_mut().take(Role::Owner);
        }
        for listed in self.lists.iter().filter(|data| data.role == Role::Owner) {
            turn.home.owners.forget(listed.id);
        }
        self.enter(turn, Stage::EmptiesQueue)
    }

    /// Tells the users of its own data to end, unless they have been told.
    fn announce_end(&self, turn: &Turn<'_>) {
        let data = self.data.borrow();
        let mut is_news = false;
        for (_, cell) in data.owned().filter(|(_, cell)| !cell.is_ending()) {
            cell.announce_end();
            is_news = true;
        }
        if is_news {
            turn.home.owners.has_ended();
            turn.home.links.wake_all();
        }
    }
}
