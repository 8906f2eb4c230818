//! The oracle: an account of each letter, from its making to its drop.

use std::sync::{Mutex, MutexGuard, PoisonError};

use filch_actors::{CallError, Caller};
use filch_scheduler::{Protocol, SendError, SubmitError, Undelivered};

use super::Cell;
use super::axes::{Room, Way};
use super::sync::Arc;

/// The protocol: a letter goes wherever a value goes.
pub(crate) enum Mail {}

impl Protocol for Mail {
    type Input = Option<Letter>;
    type Message = Post;
    type Command = Order;
    type Reply = Option<Letter>;
    type Output = ();
    type Error = String;
}

pub(crate) enum Post {
    Letter(Letter),
    /// A letter whose sender waits for the answer.
    Ask(Letter, Caller<()>),
    /// For an agent: send these.
    Batch(Vec<Letter>, Caller<()>),
    /// For an agent: the receiver calls.
    Owed(Caller<Option<Letter>>),
}

pub(crate) enum Order {
    /// The receiver waits for this one.
    Hold,
    /// The reply is a letter.
    Letter,
}

/// A value with an identity, whose drop is counted.
pub(crate) struct Letter {
    pub(crate) number: usize,
    account: Arc<Account>,
}

impl Drop for Letter {
    fn drop(&mut self) {
        let mut book = self.account.book();
        let is_early = !book.is_ending;
        let note = &mut book.notes[self.number];
        note.drops += 1;
        note.is_early = is_early;
    }
}

/// The news of a letter that its sender has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Sent,
    Answered,
    /// There will be no answer.
    Abandoned,
    /// The letter came back, as a message.
    Back(Undelivered),
    /// The letter came back, as an input.
    NotSubmitted,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Note {
    pub(crate) told: Option<Told>,
    /// The number of times that a step, an `init` or a function was given it.
    pub(crate) seen: usize,
    pub(crate) drops: usize,
    /// It was dropped before its receiver began to end.
    is_early: bool,
}

#[derive(Default)]
struct Book {
    notes: Vec<Note>,
    /// The letters in the order in which they were seen.
    order: Vec<usize>,
    is_ending: bool,
}

/// Behind a lock of the system, under which nothing else is done: no schedule sees it.
#[derive(Default)]
pub(crate) struct Account(Mutex<Book>);

impl Account {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn letters(self: &Arc<Self>, count: usize) -> Vec<Letter> {
        let mut book = self.book();
        let first = book.notes.len();
        book.notes.resize(first + count, Note::default());
        drop(book);
        let letter = |number| Letter {
            number,
            account: Arc::clone(self),
        };
        (first..first + count).map(letter).collect()
    }

    pub(crate) fn read(&self, number: usize) -> Note {
        self.book().notes[number]
    }

    /// The receiver is given the letter.
    pub(crate) fn see(&self, letter: Letter) {
        let mut book = self.book();
        book.notes[letter.number].seen += 1;
        book.order.push(letter.number);
        drop(book);
    }

    /// The receiver begins to end.
    pub(crate) fn ends(&self) {
        self.book().is_ending = true;
    }

    /// The sender of that letter is told, once.
    pub(crate) fn tell(&self, number: usize, told: Told) {
        let before = self.book().notes[number].told.replace(told);
        assert_eq!(before, None, "letter {number}: told twice, now {told:?}");
    }

    /// The letter comes back to its sender.
    pub(crate) fn back(&self, number: usize, post: Post, reason: Undelivered) {
        match post {
            Post::Letter(letter) | Post::Ask(letter, _) if letter.number == number => {
                self.tell(number, Told::Back(reason));
            }
            _ => panic!("letter {number}: another one came back"),
        }
    }

    pub(crate) fn sent(&self, number: usize, sent: Result<(), SendError<Mail>>) {
        match sent {
            Ok(()) => self.tell(number, Told::Sent),
            Err(error) => self.back(number, error.message, error.reason),
        }
    }

    pub(crate) fn answered(&self, number: usize, answered: Result<(), CallError<Mail>>) {
        match answered {
            Ok(()) => self.tell(number, Told::Answered),
            Err(CallError::Send(error)) => self.back(number, error.message, error.reason),
            Err(CallError::Abandoned) => self.tell(number, Told::Abandoned),
            Err(CallError::NotYet) => self.tell(number, Told::Sent),
            Err(error) => panic!("letter {number}: {error}"),
        }
    }

    pub(crate) fn submitted<T>(&self, number: usize, submitted: Result<T, SubmitError<Mail>>) {
        let told = match submitted {
            Ok(_) => Told::Sent,
            Err(SubmitError::NotAdmitted(_, refused)) => {
                let (_, input) = refused.into_inner();
                assert!(input.is_some_and(|letter| letter.number == number));
                Told::NotSubmitted
            }
            Err(error) => panic!("letter {number}: {error}"),
        };
        self.tell(number, told);
    }

    /// Checks if a letter came back for want of room.
    pub(crate) fn has_found_it_full(&self) -> bool {
        let is_full = |note: &Note| matches!(note.told, Some(Told::Back(Undelivered::Full { .. })));
        self.book().notes.iter().any(is_full)
    }

    /// Checks that none is left, as its receiver has ended and its sender knows that.
    pub(crate) fn check_drops(&self, cell: Cell) {
        for (number, note) in self.book().notes.iter().enumerate() {
            let is_gone = note.drops == 1 && note.seen <= 1;
            assert!(
                is_gone,
                "{cell}: letter {number} leaks, or is there twice: {note:?}"
            );
        }
    }

    /// Accounts for every letter, when all is over, with so many `counted` by the mailbox.
    pub(crate) fn audit(&self, cell: Cell, counted: usize) {
        let Cell { way, room, .. } = cell;
        let (mut gone, mut early) = (0, 0);
        let book = self.book();
        for (number, note) in book.notes.iter().enumerate() {
            let is_right = match note.told {
                Some(Told::Back(_) | Told::NotSubmitted | Told::Abandoned) => note.seen == 0,
                Some(Told::Answered) => note.seen == 1,
                Some(Told::Sent) => true,
                None => way.is_mute(),
            };
            assert!(
                is_right,
                "{cell}: the sender of letter {number} is deceived: {note:?}"
            );
            if note.seen == 0 && !matches!(note.told, Some(Told::Back(_) | Told::NotSubmitted)) {
                gone += 1;
                early += usize::from(note.is_early);
            }
        }
        let is_ordered = matches!(way, Way::Call | Way::Submit) || book.order.is_sorted();
        assert!(is_ordered, "{cell}: overtaken: {:?}", book.order);
        let said = format!("{gone} neither seen nor back, {counted} dropped by the mailbox");
        assert!(counted <= gone, "{cell}: counted without a drop: {said}");
        // A mute way has nobody to hand a letter back to: it is documented to drop it.
        if way.is_mute() && !matches!(room, Room::Unlimited | Room::Own) {
            return;
        }
        if !cell.may_leave() {
            assert_eq!(gone, counted, "{cell}: lost: {said}");
        } else if !cell.may_leave_early() {
            assert!(early <= counted, "{cell}: lost before the end: {said}");
        }
    }
}
