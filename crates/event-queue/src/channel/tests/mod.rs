//! The queue against a list, on one thread, with pushes that stall between their claim and their
//! end. No caller can make a push stall, so this test stands in the crate. Invariants:
//!
//! - an event is taken once, and not before one whose push had returned when its own push began;
//! - `drain` takes, in the order of the claims, the events that are there when it begins, unless
//!   its sink panics; `drain_up_to` takes the first of them, and says exactly whether it has looked
//!   at every slot; `pop` says `None` only if no event is there;
//! - `is_empty`, `shrink` and `reopen` know exactly whether every claimed slot is emptied;
//! - a closed queue refuses with the event, and keeps what it had; a push for an earlier life is
//!   refused; no size of a block makes a difference;
//! - after a drain, each block except the tail's has a stalled push's slot;
//! - nothing is leaked, nothing is dropped twice. (For blocks, valgrind or a sanitizer checks it.)

extern crate std;

mod end;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::prelude::v1::*;
use std::sync::Arc;

use proptest::prelude::*;

use self::end::{End, Event};
use crate::block::Block;
use crate::position::Position;
use crate::queue::{Closed, PushError, ReopenError};

#[derive(Clone, Debug)]
enum Call {
    Push(usize),
    /// For the life that is that many before the present one.
    PushIn(u32),
    /// Claims slots, and does not fill them.
    Stall(usize),
    /// Ends one of the stalled pushes.
    Fill(prop::sample::Index),
    /// Ends one as a push for an earlier life does.
    Cancel(prop::sample::Index),
    Pop(usize),
    Drain,
    /// Up to that many.
    DrainUpTo(usize),
    /// A drain whose sink panics at that event.
    CutDrain(usize),
    Close,
    Reopen,
    Shrink,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (1_usize..12).prop_map(Call::Push),
        2 => (0_u32..3).prop_map(Call::PushIn),
        3 => (1_usize..4).prop_map(Call::Stall),
        6 => any::<prop::sample::Index>().prop_map(Call::Fill),
        1 => any::<prop::sample::Index>().prop_map(Call::Cancel),
        6 => (1_usize..8).prop_map(Call::Pop),
        2 => Just(Call::Drain),
        4 => (0_usize..5).prop_map(Call::DrainUpTo),
        3 => (1_usize..5).prop_map(Call::CutDrain),
        1 => Just(Call::Close),
        2 => Just(Call::Reopen),
        1 => Just(Call::Shrink),
    ];
    prop::collection::vec(call, 0..if cfg!(miri) { 30 } else { 80 })
}

/// Slots of the first block, and of the largest ones.
fn sizes() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![
        4 => (1_usize..4, 1_usize..20),
        1 => (1_usize..=255, 1_usize..=511),
    ]
}

/// A claimed slot that is not known to be emptied.
#[derive(Debug)]
struct Slot {
    number: u32,
    claimed: u32,
    content: Content,
}

#[derive(Debug, PartialEq)]
enum Content {
    Stalled(Position),
    /// Since this time.
    Full(u32),
    Cancelled,
}

struct Queue {
    end: End,
    token: Arc<()>,
    /// The slots, in the order of their claims.
    slots: Vec<Slot>,
    closed: bool,
    life: u32,
    /// The number of the slot that was claimed last.
    newest: u32,
    /// One more for each claim and each fill.
    clock: u32,
}

impl Queue {
    fn new((first, largest): (usize, usize), is_channel: bool) -> Self {
        Self {
            end: End::new(first, largest, is_channel),
            token: Arc::new(()),
            slots: Vec::new(),
            closed: false,
            life: 0,
            newest: 0,
            clock: 0,
        }
    }

    fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    fn push(&mut self) {
        let number = self.tick();
        let event = (number, Arc::clone(&self.token));
        match self.end.producers().push(event) {
            Ok(()) => self.pushed(number),
            Err(Closed((refused, _))) => assert!(self.closed && refused == number),
        }
    }

    fn push_in(&mut self, lives_ago: u32) {
        let number = self.tick();
        let event = (number, Arc::clone(&self.token));
        let meant = self.life.wrapping_sub(lives_ago);
        let pushed = self.end.producers().push_in(meant, event);
        assert_eq!(matches!(pushed, Err(PushError::Stale(_))), lives_ago > 0);
        match pushed {
            Ok(()) => self.pushed(number),
            Err(PushError::Closed((refused, _))) => assert!(self.closed && refused == number),
            Err(PushError::Stale((refused, _))) => assert_eq!(refused, number),
        }
    }

    /// Notes a push that began at that time.
    fn pushed(&mut self, number: u32) {
        assert!(!self.closed);
        let content = Content::Full(self.tick());
        self.newest = number;
        self.slots.push(Slot {
            number,
            claimed: number,
            content,
        });
    }

    fn stall(&mut self) {
        let claimed = self.tick();
        let place = self.end.producers().claim();
        assert_eq!(place == Position::NONE, self.closed);
        if !self.closed {
            self.newest = claimed;
            self.slots.push(Slot {
                number: claimed,
                claimed,
                content: Content::Stalled(place),
            });
        }
    }

    /// Ends one of the stalled pushes, if there are any.
    fn fill(&mut self, which: usize, cancel: bool) {
        let now = self.tick();
        let stalled = |slot: &&mut Slot| matches!(slot.content, Content::Stalled(_));
        let count = self.slots.iter_mut().filter(stalled).count();
        let mut stalled = self.slots.iter_mut().filter(stalled);
        let Some(slot) = which.checked_rem(count).and_then(|nth| stalled.nth(nth)) else {
            return;
        };
        let Content::Stalled(place) = slot.content else {
            unreachable!("one that is stalled");
        };
        let (block, index) = (Block::at(place.block()), place.left() - 1);
        if cancel {
            slot.content = Content::Cancelled;
            // SAFETY: it was claimed, and not filled.
            unsafe { block.cancel(index) };
        } else {
            slot.content = Content::Full(now);
            // SAFETY: as above.
            unsafe { block.fill(index, (slot.number, Arc::clone(&self.token))) };
        }
    }

    /// Notes that the consumer has got this event.
    fn taken(&mut self, number: u32) {
        let position = self.slots.iter().position(|slot| slot.number == number);
        let slot = self.slots.remove(position.expect("an event is taken once"));
        assert!(matches!(slot.content, Content::Full(_)));
        for other in &self.slots {
            let Content::Full(since) = other.content else {
                continue;
            };
            assert!(
                since > slot.claimed,
                "{number} has overtaken {}",
                other.number
            );
        }
    }

    fn pop(&mut self) {
        match self.end.pop() {
            Some((number, _)) => self.taken(number),
            None => assert_eq!(self.full(), []),
        }
    }

    fn drain(&mut self, cut_at: Option<usize>) {
        let mut expected = self.full();
        let mut events = Vec::new();
        let drained = catch_unwind(AssertUnwindSafe(|| {
            let sink = |(number, _): Event| {
                events.push(number);
                if Some(events.len()) == cut_at {
                    resume_unwind(Box::new(()));
                }
            };
            self.end.drain(sink)
        }));
        if let Ok(moved) = drained {
            assert_eq!(moved, expected.len());
            self.slots.retain(|slot| slot.content != Content::Cancelled);
            self.check_blocks();
        } else {
            expected.truncate(events.len());
        }
        assert_eq!(events, expected);
        events.into_iter().for_each(|number| self.taken(number));
    }

    fn drain_up_to(&mut self, max: usize) {
        let End::Embedded(queue) = &self.end else {
            return (0..max).for_each(|_| self.pop());
        };
        let mut expected = self.full();
        let rest = expected.split_off(max.min(expected.len()));
        let mut events = Vec::new();
        let sink = |(number, _): Event| events.push(number);
        // SAFETY: one thread.
        let more = unsafe { queue.drain_up_to(max, sink) };
        assert_eq!(events, expected);
        if events.len() < max || events.last().is_some_and(|&last| last == self.newest) {
            // It has not stopped at `max`.
            assert!(!more);
        }
        events.into_iter().for_each(|number| self.taken(number));
        if !more {
            // It has looked at every slot.
            assert_eq!(rest, []);
            self.slots.retain(|slot| slot.content != Content::Cancelled);
            self.check_blocks();
        }
    }

    /// Checks that after a drain each block except the tail's has a stalled push's slot.
    fn check_blocks(&self) {
        let mut live = Vec::new();
        let mut next = self.end.consumer().head().block();
        while next != 0 {
            live.push(next);
            // SAFETY: linked, so live; one thread.
            next = unsafe { Block::<Event>::at(next).next() };
        }
        let mut needed: Vec<_> = (self.slots.iter())
            .filter_map(|slot| match slot.content {
                Content::Stalled(place) => Some(place.block()),
                Content::Full(_) | Content::Cancelled => None,
            })
            .collect();
        needed.push(self.end.producers().tail().next.block());
        needed.dedup();
        needed.retain(|&block| block != 0);
        assert_eq!(live, needed);
    }

    /// The events that a drain must find.
    fn full(&self) -> Vec<u32> {
        let full = |slot: &&Slot| matches!(slot.content, Content::Full(_));
        let full = self.slots.iter().filter(full);
        full.map(|slot| slot.number).collect()
    }

    fn reopen(&mut self) {
        let expected = match (self.closed, self.is_empty()) {
            (false, _) => Err(ReopenError::Open),
            (true, false) => Err(ReopenError::Unfinished),
            (true, true) => Ok(self.life + 1),
        };
        let reopened = self.end.reopen();
        assert_eq!(reopened, expected);
        if let Ok(life) = reopened {
            self.life = life;
            self.closed = false;
        }
    }

    fn is_empty(&self) -> bool {
        self.end.consumer().is_empty(self.end.producers())
    }

    /// Checks all, after each call.
    fn check(&mut self) {
        if self.is_empty() {
            // The consumer has passed the cancelled slots.
            self.slots.retain(|slot| slot.content != Content::Cancelled);
        }
        assert_eq!(self.is_empty(), self.slots.is_empty(), "{:?}", self.slots);
        assert_eq!(self.end.is_closed(), self.closed);
        assert_eq!(Arc::strong_count(&self.token), 1 + self.full().len());
    }

    fn call(&mut self, call: &Call) {
        match *call {
            Call::Push(times) => (0..times).for_each(|_| self.push()),
            Call::PushIn(lives_ago) => self.push_in(lives_ago),
            Call::Stall(times) => (0..times).for_each(|_| self.stall()),
            Call::Fill(which) => self.fill(which.index(usize::MAX), false),
            Call::Cancel(which) => self.fill(which.index(usize::MAX), true),
            Call::Pop(times) => (0..times).for_each(|_| {
                self.pop();
                self.check();
            }),
            Call::Drain => self.drain(None),
            Call::DrainUpTo(max) => self.drain_up_to(max),
            Call::CutDrain(at) => self.drain(Some(at)),
            Call::Close => {
                self.end.producers().close();
                self.closed = true;
            }
            Call::Reopen => self.reopen(),
            Call::Shrink => {
                let bare = self.end.shrink();
                assert_eq!(bare, self.is_empty());
            }
        }
        self.check();
    }

    fn end(mut self) {
        while self
            .slots
            .iter()
            .any(|slot| matches!(slot.content, Content::Stalled(_)))
        {
            self.fill(0, false);
        }
        drop(self.end);
        assert_eq!(Arc::strong_count(&self.token), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 512 }))]
    #[test]
    fn stalled_pushes_change_nothing_for_others(
        sizes in sizes(),
        is_channel: bool,
        calls in calls(),
    ) {
        let mut queue = Queue::new(sizes, is_channel);
        for call in &calls {
            queue.call(call);
        }
        queue.end();
    }
}

#[test]
fn the_head_leaves_a_block_with_the_kept_scan() {
    let mut queue = Queue::new((2, 3), true);
    (0..3).for_each(|_| queue.stall());
    queue.push();
    queue.pop();
    queue.push();
    // The oldest slot. With it begins a scan that is kept before the first block's last slot.
    queue.fill(0, false);
    queue.pop();
    queue.fill(0, true);
    queue.pop();
    let (head, tail) = (
        queue.end.consumer().head(),
        queue.end.producers().tail().next,
    );
    assert_eq!(head.block(), tail.block());
    queue.end();
}
