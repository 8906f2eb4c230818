//! Completions that are answered some time later.

use std::sync::Mutex;

use filch_actors::timers::Bounded;
use filch_scheduler::Completion;

use crate::account::{Kind, lock};
use crate::cast::{Fault, Parcel, Soak};
use crate::random::Random;

/// A completion, perhaps with a deadline.
pub(crate) enum Held {
    Free(Completion<Soak>),
    Bounded(Bounded<Soak>),
}

/// Completions that any thread may take and answer.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Vec<(Held, bool)>>);

impl Shelf {
    /// Puts a completion on the shelf. `is_bomb`: its reply, if it gets one, is a bomb.
    pub(crate) fn put(&self, held: Held, is_bomb: bool) {
        lock(&self.0).push((held, is_bomb));
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }

    /// Answers one of them, in some way.
    pub(crate) fn answer_one(&self, random: &mut Random) {
        let taken = {
            let mut held = lock(&self.0);
            let place = random.next().checked_rem(held.len() as u64);
            place.map(|place| held.swap_remove(place as usize))
        };
        if let Some((held, is_bomb)) = taken {
            answer(held, is_bomb, random.below(8));
        }
    }

    /// Answers all of them.
    pub(crate) fn answer_all(&self) {
        let all = std::mem::take(&mut *lock(&self.0));
        for (held, is_bomb) in all {
            answer(held, is_bomb, 0);
        }
    }
}

fn answer(held: Held, is_bomb: bool, way: u64) {
    if way == 7 {
        return drop(held);
    }
    let completion = match held {
        Held::Free(completion) => Some(completion),
        Held::Bounded(bounded) => bounded.take(),
    };
    match completion {
        // Too late.
        None => {}
        Some(completion) if way == 6 => completion.fail(Fault::new(false)),
        Some(completion) => {
            let tag = completion.tag();
            completion.complete(Parcel::new(Kind::Reply, tag, is_bomb));
        }
    }
}
