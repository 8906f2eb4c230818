//! A message, and its fate: read, handed back, or dropped with a process that has ended.

use std::sync::Arc;

use filch_scheduler::Undelivered;

use crate::account::{Happening, Kind, Life, Token, complain, note};

/// A letter's request to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Asks for nothing.
    Note,
    /// Asks to end well.
    Finish,
    /// Asks to end with an error.
    Fail,
    /// Asks to panic.
    Panic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Underway,
    Read,
    HandedBack,
}

/// A message. It is one word, so that its events have the usual size.
#[derive(Debug)]
pub(crate) struct Letter(Box<Inner>);

#[derive(Debug)]
struct Inner {
    to: Arc<Life>,
    sender: u32,
    number: u64,
    word: Word,
    fate: Fate,
    /// True if it is from a timer, which may drop it instead of sending it.
    is_timed: bool,
    // Last, so that it is dropped when the accounts are in order.
    token: Token,
}

/// Writes the letters of one sender, in order.
#[derive(Debug)]
pub(crate) struct Pen {
    sender: u32,
    number: u64,
}

impl Pen {
    pub(crate) fn new(sender: u32) -> Self {
        Self { sender, number: 0 }
    }

    pub(crate) fn write(&mut self, to: &Arc<Life>, word: Word, is_bomb: bool) -> Letter {
        self.number += 1;
        to.underway.add(1);
        note(Happening::Sent);
        Letter(Box::new(Inner {
            to: Arc::clone(to),
            sender: self.sender,
            number: self.number,
            word,
            fate: Fate::Underway,
            is_timed: false,
            token: Token::maybe_bomb(Kind::Message, is_bomb),
        }))
    }
}

impl Letter {
    /// Marks it as sent by a timer.
    pub(crate) fn timed(mut self) -> Self {
        self.0.is_timed = true;
        note(Happening::TimedMessages);
        self
    }

    pub(crate) fn is_bomb(&self) -> bool {
        self.0.token.is_bomb()
    }

    /// Checks that the process `by` is its receiver, and returns its request.
    pub(crate) fn read(&mut self, by: &Life) -> Word {
        let letter = &mut *self.0;
        if letter.to.number != by.number {
            complain(format!("{by} got a message that was for {}", letter.to));
        }
        by.heard(letter.sender, letter.number);
        letter.settle(Fate::Read);
        note(Happening::Read);
        letter.word
    }

    /// Takes note of its receiver's refusal.
    pub(crate) fn handed_back(&mut self, reason: Undelivered) {
        let letter = &mut *self.0;
        let to = &letter.to;
        match reason {
            Undelivered::NoSuchProcess => {
                note(Happening::HandedBackNoSuchProcess);
                to.is_said_to_be_gone();
            }
            Undelivered::Full { limit } => {
                note(Happening::HandedBackFull);
                if to.role.mailbox != Some(limit) {
                    complain(format!(
                        "a message to {to} was refused: mailbox full of {limit}"
                    ));
                }
            }
            other => complain(format!("a message to {to} was refused: {other:?}")),
        }
        letter.settle(Fate::HandedBack);
    }
}

impl Inner {
    fn settle(&mut self, fate: Fate) {
        if self.fate == Fate::Underway {
            self.to.underway.add(-1);
        } else {
            let (to, was) = (&self.to, self.fate);
            complain(format!("a message to {to} was {was:?}, and then {fate:?}"));
        }
        self.fate = fate;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.fate != Fate::Underway {
            return;
        }
        let to = &self.to;
        if !(to.ending.is_up() || to.leaving.is_up() || self.is_timed) {
            let (sender, number) = (self.sender, self.number);
            complain(format!(
                "message {number} of sender {sender} to {to} was lost, while {to} lives"
            ));
        }
        note(Happening::DroppedWithProcess);
        self.to.underway.add(-1);
    }
}
