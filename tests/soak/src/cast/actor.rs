//! The process of a soak: it reads its events, does things of its own, and ends as it likes.

use std::sync::Arc;

use filch_scheduler::{Context, Event, Events, ExitReason, InitError, Process, StepOutput};

use crate::account::{
    Expected, Flag, Happening, Intent, Kind, Life, Pen, Token, Word, complain, dispose, note,
};
use crate::cast::{Doer, Errand, Fault, Parcel, Soak, Way, World};
use crate::plan::{Begin, Deed, Faults, Role};
use crate::random::Random;

/// One version of a process.
pub(crate) struct Actor {
    world: Arc<World>,
    life: Arc<Life>,
    role: Role,
    random: Random,
    pen: Pen,
    energy: u8,
    is_bound: bool,
    is_first: bool,
    begun: Flag,
    closed: Flag,
    // Last, as it may panic when it is dropped.
    _token: Token,
}

/// The end of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Rest,
    Done,
    Fail,
    Panic,
}

impl Actor {
    pub(crate) fn new(world: &Arc<World>, life: &Arc<Life>, role: Role, is_bound: bool) -> Self {
        if role.close_panics || role.process_bomb {
            life.closing_panics.raise();
        }
        Self {
            world: Arc::clone(world),
            life: Arc::clone(life),
            role,
            random: Random::new(role.seed),
            pen: world.pen(),
            energy: role.energy,
            is_bound,
            is_first: true,
            begun: Flag::default(),
            closed: Flag::default(),
            _token: Token::maybe_bomb(Kind::Process, role.process_bomb),
        }
    }

    /// Makes a new version of a living process.
    pub(crate) fn version(world: &Arc<World>, life: &Arc<Life>, role: Role) -> Self {
        life.upgraded.raise();
        let mut actor = Self::new(world, life, role, false);
        actor.is_first = false;
        actor
    }

    /// Reads all events, or leaves some.
    fn read(&mut self, mut events: Events<'_, Soak>) -> Next {
        let life = Arc::clone(&self.life);
        let mut next = Next::Rest;
        let leaves = self.role.faults != Faults::None
            && life.outstanding() == 0
            && !self.world.resting.is_up()
            && self.random.percent(3);
        let mut left = if leaves {
            self.random.below(events.len() as u64 + 1)
        } else {
            u64::MAX
        };
        while left > 0 {
            let Some(event) = events.next() else {
                return next;
            };
            left -= 1;
            let said = match event {
                Event::Message(mut letter) => {
                    let word = letter.read(&life);
                    if letter.is_bomb() && self.random.percent(20) {
                        // It goes off inside this step.
                        life.intends(Intent::Panics);
                        drop(letter);
                    } else {
                        dispose(letter);
                    }
                    match word {
                        Word::Note => Next::Rest,
                        Word::Finish => Next::Done,
                        Word::Fail => Next::Fail,
                        Word::Panic => Next::Panic,
                    }
                }
                Event::Completed { tag, result } => {
                    life.answered(tag, &result);
                    dispose(result);
                    Next::Rest
                }
                Event::Cancel(_) if self.role.is_stubborn => Next::Rest,
                Event::Cancel(_) => Next::Done,
                Event::Down(down) => {
                    self.world.watches.told_down(*down, &life);
                    Next::Rest
                }
                Event::Exited(exited) => {
                    self.world.watches.told_exited(*exited, &life);
                    Next::Rest
                }
                other => {
                    complain(format!("{life} got {other:?}"));
                    Next::Rest
                }
            };
            if next == Next::Rest {
                next = said;
            }
        }
        life.leaves_events();
        next
    }

    /// Does something of its own, as long as it has the energy.
    fn act(&mut self, context: &Context<'_, Soak>, out: &mut StepOutput<Soak>) -> Next {
        let errors = self.role.faults != Faults::None;
        let hostile = self.role.faults == Faults::Hostile;
        self.energy -= 1;
        match self.random.below(40) {
            0..=8 => self.ask(out),
            9 | 10 => out.go_on(),
            11 => self.upgrade_itself(out),
            12 if errors && self.life.outstanding() == 0 => {
                self.life.intends(Intent::WaitsForNothing);
                out.wait();
            }
            13 => return Next::Done,
            14 if errors => return Next::Fail,
            15 if hostile => return Next::Panic,
            16 if errors => {
                self.life.terminated.raise();
                note(Happening::Terminations);
                // Refused only if somebody else has ended it meanwhile, which waits for this step.
                if context.terminate(context.pid()).is_err() {
                    complain(format!("{} could not terminate itself", self.life));
                }
            }
            _ => self.do_something(context),
        }
        Next::Rest
    }

    fn do_something(&mut self, context: &Context<'_, Soak>) {
        let deed = Deed::draw_inside(&mut self.random, &self.world.mix, self.energy);
        let mut doer = Doer {
            world: &self.world,
            handle: context.handle(),
            pen: &mut self.pen,
        };
        doer.perform(deed);
    }

    /// Yields some commands, and usually waits for them.
    fn ask(&mut self, out: &mut StepOutput<Soak>) {
        for _ in 0..self.random.within(1, 3) {
            let (way, expected) = self.draw_way();
            self.yield_one(out, way, expected);
        }
        if self.random.percent(70) {
            out.wait();
        }
    }

    fn yield_one(&mut self, out: &mut StepOutput<Soak>, way: Way, expected: Expected) {
        let errand = Errand {
            way,
            reply_bomb: self.role.faults == Faults::Hostile && self.random.percent(5),
            world: Arc::clone(&self.world),
            _token: Token::new(Kind::Command),
        };
        let expected = match self.world.has_handler {
            true => expected,
            false => Expected::NoHandler,
        };
        note(Happening::Asked);
        out.yield_command(self.life.asks(expected), errand);
    }

    fn draw_way(&mut self) -> (Way, Expected) {
        let errors = self.role.faults != Faults::None;
        let hostile = self.role.faults == Faults::Hostile;
        let random = &mut self.random;
        match random.below(24) {
            0 if errors => (Way::Fail, Expected::Failure),
            1 if hostile => (Way::Panic, Expected::Panic),
            2 if hostile => (Way::AnswerThenPanic, Expected::Reply),
            3 if errors => (Way::Abandon, Expected::Abandoned),
            4..=8 => (Way::Shelve, Expected::Anything),
            9..=11 => (Way::Thread, Expected::Reply),
            12 if errors => (Way::ThreadFails, Expected::Failure),
            13 if hostile => (Way::ThreadPanics, Expected::Panic),
            14 | 15 => (Way::Later(random.below(900)), Expected::Reply),
            16 => (Way::Deadline(random.below(900)), Expected::Anything),
            _ => (Way::Answer, Expected::Reply),
        }
    }

    fn upgrade_itself(&mut self, out: &mut StepOutput<Soak>) {
        let mut role = Role::draw(&mut self.random, self.role.faults, self.energy / 2);
        role.is_brief = self.life.role.is_brief;
        if role.begin != Begin::Well {
            self.life.intends(Intent::UpgradesBadly);
        }
        note(Happening::UpgradedSelf);
        let next = Self::version(&self.world, &self.life, role);
        out.upgrade(Box::new(next), role.method(), Token::new(Kind::Input));
    }

    fn begin(&mut self, context: &Context<'_, Soak>, method: &str) -> Result<(), InitError<Soak>> {
        if self.begun.raise() {
            complain(format!("a version of {} began twice", self.life));
        }
        if self.is_first {
            self.life.born(context.pid());
            self.world.roster.enter(context.pid(), &self.life);
        }
        if method != "run" {
            return Err(InitError::unknown_method(method, &["run"]));
        }
        if self.random.percent(10) && self.energy > 0 {
            self.energy -= 1;
            self.do_something(context);
        }
        match self.role.begin {
            Begin::Fails => Err(InitError::Failed(Fault::new(self.random.percent(30)))),
            Begin::Panics => panic!("soak: init"),
            Begin::Well | Begin::UnknownMethod => Ok(()),
        }
    }
}

impl Process<Soak> for Actor {
    fn init(
        &mut self,
        context: &Context<'_, Soak>,
        method: &str,
        input: Token,
    ) -> Result<(), InitError<Soak>> {
        drop(input);
        self.begin(context, method)
    }

    fn step(
        &mut self,
        context: &Context<'_, Soak>,
        events: Events<'_, Soak>,
        out: &mut StepOutput<Soak>,
    ) -> Result<(), Fault> {
        let (world, life) = (Arc::clone(&self.world), Arc::clone(&self.life));
        let _stepping = Stepping(&life);
        world.roster.steps.add(1);
        world.roster.events.add(events.len() as i64);
        life.enter(self.is_bound && !world.unbound.is_up());
        if !self.begun.is_up() || self.closed.is_up() {
            complain(format!("{life} is stepped by a version that does not live"));
        }
        for _ in 0..std::mem::take(&mut self.role.asks) {
            self.yield_one(out, Way::Answer, Expected::Reply);
        }
        let mut next = self.read(events);
        if next == Next::Rest && self.role.is_brief {
            next = Next::Done;
        }
        if next == Next::Rest && self.energy > 0 && !world.resting.is_up() {
            next = self.act(context, out);
        }
        match next {
            Next::Rest => Ok(()),
            Next::Done => {
                let number = u64::from(life.number);
                life.intends(Intent::Done);
                out.done(Parcel::new(Kind::Output, number, self.role.output_bomb));
                Ok(())
            }
            Next::Fail => {
                life.intends(Intent::Fails);
                let hostile = self.role.faults == Faults::Hostile;
                Err(Fault::new(hostile && self.random.percent(30)))
            }
            Next::Panic => {
                life.intends(Intent::Panics);
                panic!("soak: a step");
            }
        }
    }

    fn close(&mut self, reason: &ExitReason) {
        if self.closed.raise() || !self.begun.is_up() {
            complain(format!(
                "{} was closed twice, or before it began",
                self.life
            ));
        }
        if *reason != ExitReason::Upgraded {
            self.life.ending.raise();
        }
        if self.role.close_panics {
            note(Happening::ClosePanicked);
            panic!("soak: close");
        }
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        if self.begun.is_up() && !self.closed.is_up() {
            complain(format!("{} was dropped and not closed", self.life));
        }
    }
}

/// A running step; it ends when this is dropped, even by a panic.
struct Stepping<'a>(&'a Life);

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// An actor in one word, behind a pointer.
pub(crate) struct Small(Box<Actor>);

impl Small {
    pub(crate) fn new(actor: Actor) -> Self {
        Self(Box::new(actor))
    }
}

impl Process<Soak> for Small {
    fn init(
        &mut self,
        context: &Context<'_, Soak>,
        method: &str,
        input: Token,
    ) -> Result<(), InitError<Soak>> {
        self.0.init(context, method, input)
    }

    fn step(
        &mut self,
        context: &Context<'_, Soak>,
        events: Events<'_, Soak>,
        out: &mut StepOutput<Soak>,
    ) -> Result<(), Fault> {
        self.0.step(context, events, out)
    }

    fn close(&mut self, reason: &ExitReason) {
        self.0.close(reason);
    }
}
