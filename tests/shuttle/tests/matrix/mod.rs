//! The matrix of message sending: each way × each mailbox × each moment of the receiver's life, and
//! an oracle that accounts for every letter.
//!
//! Each letter is dropped exactly once, and has exactly one fate:
//!
//! * *delivered*: a step, an `init` or a function was given it, once;
//! * *back*: its sender has the value again, with a reason;
//! * *dropped* by its mailbox, which counts it in `Stats::dropped`;
//! * *unread*: taken, and dropped with its receiver. Only where that ends before it has read all,
//!   and not before it begins to end.
//!
//! Its sender is told so, once. Three letters are sent while the receiver stands still at its
//! moment: there each one's fate is known. Two more race with what comes next. The last one is sent
//! when the receiver has read all, and finds room. What is delivered is in the order of sending.
//!
//! Under shuttle each cell runs under random schedules, else once. To run some cells alone, or to
//! replay a schedule: `FILCH_MATRIX="InStep × Refuse × Send"` in front of `cargo xtask shuttle`.

mod account;
mod axes;
mod receiver;
mod stage;
mod ways;

use std::fmt;
use std::time::Duration;

use filch_scheduler::Undelivered;
#[cfg(shuttle)]
use shuttle::{sync, thread};
#[cfg(not(shuttle))]
use std::{sync, thread};

use account::{Note, Told};
use axes::{Moment, Room, State, Way};
use stage::Stage;
use ways::Office;

const FOR_EVER: Duration = Duration::MAX;

/// The letters that are sent while the receiver stands still.
const STILL: usize = 3;
/// The letters that race with what comes next.
const RACING: usize = 2;
/// The letters that are sent when the receiver has read all.
const LATE: usize = 1;

#[derive(Debug, Clone, Copy)]
struct Cell {
    way: Way,
    room: Room,
    moment: Moment,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} × {:?} × {:?}", self.moment, self.room, self.way)
    }
}

/// A set of cells, and the reason why they are left out.
type LeftOut = (&'static str, fn(Cell) -> bool);

const LEFT_OUT: &[LeftOut] = &[
    ("a reply, to one that has opened no command yet", |cell| {
        use Moment::{BeforeInit, InInit, InitRefuses};
        cell.way.is_reply() && matches!(cell.moment, BeforeInit | InInit | InitRefuses)
    }),
    (
        "a reply, to an async function, which opens no command",
        |cell| cell.way.is_reply() && cell.moment.is_function(),
    ),
    (
        "a sender in a scheduler in which no process lives",
        |cell| cell.way.is_by_process() && cell.moment == Moment::ShutDown,
    ),
    (
        "a stranger under the name of a child, whose next life then cannot begin",
        |cell| cell.way == Way::Submit && cell.moment.is_supervised(),
    ),
];

/// The fate of a letter while the receiver stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Taken,
    Waits,
    Dropped,
    Back(Undelivered),
    NotSubmitted,
}

impl Room {
    /// Returns the fate of the nth message to a process that takes messages and is given none.
    fn fate(self, way: Way, nth: usize) -> Fate {
        let limit = self.limit();
        match self {
            Self::Unlimited | Self::Own => Fate::Taken,
            Self::Closed => Fate::Back(Undelivered::Future),
            // Until it is read: else another one would replace it.
            Self::DropOldest if way.is_patient() => Fate::Waits,
            // Others come until there are `STILL`.
            Self::DropOldest if way != Way::Impatient && nth + limit < STILL => Fate::Dropped,
            Self::DropOldest if way != Way::Impatient => Fate::Taken,
            _ if nth < limit => Fate::Taken,
            _ if way.is_patient() => Fate::Waits,
            Self::DropNewest if way != Way::Impatient => Fate::Dropped,
            _ => Fate::Back(Undelivered::Full { limit }),
        }
    }
}

impl Cell {
    /// Returns all cells of that moment that are not left out.
    fn of(moment: Moment) -> Vec<Self> {
        let cells = Way::ALL.iter().flat_map(|&way| {
            let cell = move |&room| Self { way, room, moment };
            Room::ALL.iter().map(cell)
        });
        let asked = std::env::var("FILCH_MATRIX").unwrap_or_default();
        let cells = cells.filter(|cell| !cell.is_among(LEFT_OUT));
        cells
            .filter(|cell| cell.to_string().contains(&asked))
            .collect()
    }

    fn is_among(self, some: &[LeftOut]) -> bool {
        some.iter().any(|(_, are)| are(self))
    }

    fn state(self) -> State {
        match self.moment {
            Moment::Restarted if self.way.is_by_name() => State::Flows,
            moment => moment.state(),
        }
    }

    /// Checks if something else than a full mailbox ends the receiver before it has read all.
    fn is_ended(self) -> bool {
        use Moment::{FunctionWithoutInbox, InitRefuses, Terminated};
        let ends = matches!(self.moment, FunctionWithoutInbox | InitRefuses | Terminated);
        ends || self.state() == State::Shut || self.way.is_reply() && self.moment.is_supervised()
    }

    /// Checks if letters may be dropped with the receiver.
    fn may_leave(self) -> bool {
        self.is_ended() || self.room == Room::End || self.may_leave_early()
    }

    /// Checks if an async function may drop its inbox with letters in it before it ends.
    fn may_leave_early(self) -> bool {
        let is_replaced = self.moment.is_function() && self.way == Way::Upgrade;
        is_replaced || self.moment == Moment::FunctionWithoutInbox
    }

    /// Checks if a letter that is sent when the receiver has read all is delivered.
    fn takes_late(self) -> bool {
        let takes_one = match self.room {
            Room::None => self.way.is_patient(),
            Room::Closed => self.moment == Moment::Upgraded,
            _ => true,
        };
        self.way != Way::Submit && (takes_one || self.way.is_input())
    }

    /// Returns the fate of each letter that is sent while the receiver stands still, if known.
    fn expected(self) -> Option<[Fate; STILL]> {
        let Self { way, room, moment } = self;
        // A function's process takes the messages out, and the function its latest ones.
        let is_taken_out = room == Room::DropOldest && moment == Moment::FunctionBusy;
        let is_shut = self.state() == State::Shut;
        // The first one that is submitted keeps the name for a while.
        let is_named = way == Way::Submit && is_shut && moment != Moment::ShutDown;
        let is_unknown = self.state() == State::Flows || is_taken_out || is_named;
        if is_unknown {
            return None;
        }
        Some(std::array::from_fn(|nth| match way {
            Way::Submit => Fate::NotSubmitted,
            Way::Upgrade if is_shut => Fate::NotSubmitted,
            way if way.is_input() => Fate::Taken,
            _ if is_shut => Fate::Back(Undelivered::NoSuchProcess),
            // Its new version takes messages.
            _ if room == Room::Closed && moment == Moment::Upgraded => Fate::Taken,
            way => room.fate(way, nth),
        }))
    }

    /// Checks the letters that were sent while the receiver stood still.
    fn check(self, office: &Office) {
        let Some(expected) = self.expected() else {
            return;
        };
        let Self { way, room, .. } = self;
        let may_be_over = self.state() == State::Shut || room == Room::End;
        for (number, fate) in expected.into_iter().enumerate() {
            let note = office.script.account.read(number);
            let Note { told, drops, .. } = note;
            let is_there = drops == 0 || way.is_input() || may_be_over;
            let is_right = match fate {
                Fate::Taken if way.tells_later() => is_there && (told.is_none() || may_be_over),
                Fate::Taken => is_there && told == Some(Told::Sent),
                Fate::Waits => told.is_none() && drops == 0,
                Fate::Dropped => !matches!(told, Some(Told::Back(_))) && drops == 1,
                Fate::Back(_) if way.is_mute() => told.is_none() && drops == 1,
                Fate::Back(reason) => told == Some(Told::Back(reason)),
                Fate::NotSubmitted => told == Some(Told::NotSubmitted),
            };
            assert!(
                is_right,
                "{self}: letter {number}: {fate:?} is promised, not {note:?}"
            );
        }
        let dropped = expected
            .iter()
            .filter(|fate| **fate == Fate::Dropped)
            .count();
        let counted = office.handle.stats().dropped as usize;
        assert_eq!(counted, dropped, "{self}: the count of those dropped");
    }

    fn run(self) {
        let mut stage = Stage::new(self);
        stage.begin();
        let office = stage.office.clone();
        let account = sync::Arc::clone(&office.script.account);
        let (still, racing) = (account.letters(STILL), account.letters(RACING));
        let in_thread = |letters| {
            let office = office.clone();
            thread::spawn(move || office.send(letters))
        };
        let mut pending = Vec::new();
        if self.way == Way::Call {
            // It would wait for one that stands still.
            let calls = in_thread(still);
            stage.release();
            calls.join().unwrap();
        } else {
            pending.extend(office.send(still));
            self.check(&office);
        }
        let racers = in_thread(racing);
        stage.release();
        pending.extend(racers.join().unwrap());
        if !self.may_leave() {
            stage.flush();
            pending.extend(office.send(account.letters(LATE)));
        }
        let is_overflow = stage.end(pending);
        account.check_drops(self);
        stage.close();
        account.audit(self, office.handle.stats().dropped as usize);
        if !self.may_leave() && self.takes_late() {
            let note = account.read(STILL + RACING);
            assert_eq!(
                note.seen, 1,
                "{self}: no room in an empty mailbox: {note:?}"
            );
        }
        if self.room == Room::End && self.way != Way::Impatient && !self.is_ended() {
            let is_full = account.has_found_it_full() && !self.moment.is_supervised();
            assert!(
                is_overflow || !is_full,
                "{self}: one message too many, and it lives"
            );
        }
    }
}

/// Makes a test of each moment.
macro_rules! moments {
    ($(#[test] fn $test:ident($moment:ident);)+) => {
        $(#[test]
        fn $test() {
            explore(&Cell::of(Moment::$moment));
        })+

        const TESTED: &[Moment] = &[$(Moment::$moment,)+];
    };
}

moments! {
    #[test]
    fn before_init(BeforeInit);
    #[test]
    fn in_init(InInit);
    #[test]
    fn in_an_init_that_refuses(InitRefuses);
    #[test]
    fn in_a_step(InStep);
    #[test]
    fn idle(Idle);
    #[test]
    fn waits_for_a_command(WaitsForCommand);
    #[test]
    fn in_a_blocking_call(InBlockingCall);
    #[test]
    fn gives_way(GivesWay);
    #[test]
    fn terminated(Terminated);
    #[test]
    fn closing(Closing);
    #[test]
    fn ended(Ended);
    #[test]
    fn joined(Joined);
    #[test]
    fn upgrading(Upgrading);
    #[test]
    fn upgraded(Upgraded);
    #[test]
    fn bound(Bound);
    #[test]
    fn restarting(Restarting);
    #[test]
    fn restarted(Restarted);
    #[test]
    fn shutting_down(ShuttingDown);
    #[test]
    fn shut_down(ShutDown);
    #[test]
    fn a_function_awaits(FunctionAwaits);
    #[test]
    fn a_function_is_busy(FunctionBusy);
    #[test]
    fn a_function_without_inbox(FunctionWithoutInbox);
}

const _: () = assert!(TESTED.len() == Moment::ALL.len(), "a moment has no test");

#[cfg(shuttle)]
fn explore(cells: &[Cell]) {
    shuttle_tests::explore_all("each letter has one fate", 4, cells, Cell::run);
}

#[cfg(not(shuttle))]
fn explore(cells: &[Cell]) {
    cells.iter().for_each(|cell| cell.run());
}

/// Few cells are left out, each for a reason that stands above. It has no schedules, and so is none
/// of shuttle's tests.
#[cfg(not(shuttle))]
#[cfg_attr(not(shuttle), test)]
fn hardly_any_cell_is_left_out() {
    let all = Way::ALL.len() * Room::ALL.len() * Moment::ALL.len();
    let cells = TESTED.iter().flat_map(|&moment| Cell::of(moment));
    let whole = cells.count();
    assert!(10 * (all - whole) <= all, "{whole} of {all} are checked");
}
