//! Stages 5 to 7: a tag beside the index, a count of finished claims, and another ring.

use filch_models::{Bound, beside};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::{Plain, assert_each_once};

/// The step that is left out or out of place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Stage 5: a pop learns how far thieves are, but leaves the tag as it is.
    NoTag,
    /// Exercise 5: a pop begins the next epoch, and lowers `bottom` afterwards.
    LoweredAfterTag,
    /// The store that lowers `bottom` is Relaxed.
    LoweredRelaxed,
    /// Stage 6: a push reuses a slot as soon as `top` has passed it.
    ReusedByTop,
    /// Exercise 6: a thief reports the end of its copying by a Relaxed addition.
    DoneRelaxed,
    /// Stage 7: a replaced ring is freed at once.
    FreedWithoutDone,
    /// Exercise 7: the ring is replaced while `bottom` still offers items.
    NotClosed,
    /// The ring is replaced under the same tag.
    ReplacedWithoutTag,
}

const SLOTS: u32 = 2;

// ANCHOR: tag
/// `top` is `{tag: 32, index: 32}`. This starts the next epoch.
const TAG: u64 = 1 << 32;
// ANCHOR_END: tag

// ANCHOR: ring
struct Ring {
    /// Items that thieves have copied out.
    done: AtomicU32,
    /// `None` once the ring is freed.
    slots: [Plain<Option<u32>>; SLOTS as usize],
}
// ANCHOR_END: ring

impl Ring {
    fn new() -> Self {
        Self {
            done: AtomicU32::new(0),
            slots: std::array::from_fn(|_| Plain::new(None)),
        }
    }

    fn write(&self, index: u32, item: Option<u32>) {
        self.slots[(index % SLOTS) as usize].set(item);
    }

    fn read(&self, index: u32) -> u32 {
        let item = self.slots[(index % SLOTS) as usize].get();
        item.expect("read from a freed ring")
    }
}

struct Deque {
    bug: Bug,
    top: AtomicU64,
    bottom: AtomicU32,
    ring: AtomicUsize,
    rings: [Ring; 2],
}

/// The owner's knowledge.
#[derive(Default)]
struct Owner {
    bottom: u32,
    /// All claims below it have ended.
    safe: u32,
}

impl Deque {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            top: AtomicU64::new(0),
            bottom: AtomicU32::new(0),
            ring: AtomicUsize::new(0),
            rings: [Ring::new(), Ring::new()],
        })
    }

    // ANCHOR: push
    fn push(&self, owner: &mut Owner, item: u32) -> bool {
        let ring = &self.rings[self.ring.load(Ordering::Relaxed)];
        if owner.bottom - owner.safe == SLOTS {
            let done = ring.done.load(Ordering::Acquire);
            let index = self.top.load(Ordering::Acquire) as u32;
            if done == index || self.bug == Bug::ReusedByTop {
                owner.safe = index;
            }
        }
        if owner.bottom - owner.safe == SLOTS {
            return false; // no room, or a thief still copies
        }
        ring.write(owner.bottom, Some(item));
        owner.bottom += 1;
        self.bottom.store(owner.bottom, Ordering::Release);
        true
    }
    // ANCHOR_END: push

    // ANCHOR: pop
    fn pop(&self, owner: &mut Owner) -> Option<u32> {
        let last = owner.bottom.checked_sub(1)?;
        if self.lower(last) == owner.bottom {
            self.bottom.store(owner.bottom, Ordering::Release);
            return None; // thieves have had it
        }
        owner.bottom = last;
        Some(self.rings[self.ring.load(Ordering::Relaxed)].read(last))
    }

    /// Lowers `bottom`, then begins an epoch. Returns how far thieves had got.
    fn lower(&self, last: u32) -> u32 {
        // ANCHOR_END: pop
        if self.bug == Bug::LoweredAfterTag {
            let index = self.top.fetch_add(TAG, Ordering::AcqRel) as u32;
            self.bottom.store(last, Ordering::Release);
            return index;
        }
        // ANCHOR: pop
        self.bottom.store(last, self.lowering()); // Release
        self.top.fetch_add(self.tag(), Ordering::AcqRel) as u32 // TAG
    }
    // ANCHOR_END: pop

    fn tag(&self) -> u64 {
        if self.bug == Bug::NoTag { 0 } else { TAG }
    }

    fn lowering(&self) -> Ordering {
        match self.bug {
            Bug::LoweredRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        }
    }

    // ANCHOR: steal
    /// Takes as many items as it sees: the hardest share.
    fn steal(&self) -> Vec<u32> {
        let top = self.top.load(Ordering::Acquire);
        let first = top as u32;
        let bottom = self.bottom.load(Ordering::Acquire);
        let ring = &self.rings[self.ring.load(Ordering::Acquire)];
        let count = (bottom.wrapping_sub(first) as i32).max(0) as u32;
        let claimed = top + u64::from(count);
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let claim = self.top.compare_exchange(top, claimed, ok, failed);
        if count == 0 || claim.is_err() {
            return Vec::new();
        }
        let items = (first..bottom).map(|index| ring.read(index)).collect();
        ring.done.fetch_add(count, self.reporting()); // Release
        items
    }
    // ANCHOR_END: steal

    fn reporting(&self) -> Ordering {
        match self.bug {
            Bug::DoneRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        }
    }

    // ANCHOR: replace
    /// Moves from ring 0 to ring 1, and frees ring 0 when its claims have ended.
    fn replace(&self, owner: &mut Owner) {
        let [old, new] = &self.rings;
        if self.bug != Bug::NotClosed {
            let closed = owner.bottom.wrapping_sub(1 << 31); // below every index
            self.bottom.store(closed, Ordering::Release);
        }
        let tag = if self.bug == Bug::ReplacedWithoutTag {
            0
        } else {
            TAG
        };
        let end = self.top.fetch_add(tag, Ordering::AcqRel) as u32;
        for index in end..owner.bottom {
            new.write(index, Some(old.read(index)));
        }
        new.done.store(end, Ordering::Relaxed); // ring 1 goes on with the count
        self.ring.store(1, Ordering::Release);
        self.bottom.store(owner.bottom, Ordering::Release);
        owner.safe = end;
        if old.done.load(Ordering::Acquire) == end || self.bug == Bug::FreedWithoutDone {
            (0..SLOTS).for_each(|index| old.write(index, None));
        }
    }
    // ANCHOR_END: replace
}

/// The owner's part beside a thief. Returns the number of items it pushed, and those it popped.
type Part = fn(&Deque, &mut Owner) -> (u32, Vec<u32>);

/// Two items in, two out.
fn pops(deque: &Deque, owner: &mut Owner) -> (u32, Vec<u32>) {
    assert!(deque.push(owner, 0) && deque.push(owner, 1));
    let popped = (0..2).filter_map(|_| deque.pop(owner)).collect();
    (2, popped)
}

/// Pushes while there is room, up to four. The third goes to the slot of the first.
fn pushes(deque: &Deque, owner: &mut Owner) -> (u32, Vec<u32>) {
    let count = (0..4).take_while(|&item| deque.push(owner, item)).count();
    (count as u32, Vec::new())
}

/// Two items in, then another ring.
fn replaces(deque: &Deque, owner: &mut Owner) -> (u32, Vec<u32>) {
    assert!(deque.push(owner, 0) && deque.push(owner, 1));
    deque.replace(owner);
    (2, Vec::new())
}

/// The owner plays its part beside a thief that tries twice; then the owner pops what is left.
fn race(bug: Bug, part: Part) {
    let deque = Deque::new(bug);
    let thief = beside(&deque, |deque| [deque.steal(), deque.steal()].concat());
    let mut owner = Owner::default();
    let (pushed, popped) = part(&deque, &mut owner);
    let stolen = thief.join().unwrap();
    let rest = std::iter::from_fn(|| deque.pop(&mut owner));
    assert_each_once(pushed, popped.into_iter().chain(stolen).chain(rest));
}

#[test]
fn stage_5_a_pop_begins_an_epoch() {
    Bound::exhaustive(25_000).check_and_refute(
        "tour 5: a tag beside the index",
        |bug| race(bug, pops),
        &[
            // The thief has looked at both items. The owner pops one of them, and the thief's claim
            // of it still succeeds.
            (Bug::NoTag, "handed out twice"),
            // Between the tag and the lowering the thief reads the new tag and the old `bottom`:
            // its claim succeeds.
            (Bug::LoweredAfterTag, "handed out twice"),
            // The thief reads the lowered `bottom`, which says that item 0 is there, and has no
            // edge from the write of item 0.
            (Bug::LoweredRelaxed, "Causality violation"),
        ],
    );
}

#[test]
fn stage_6_a_slot_is_free_when_its_claim_has_ended() {
    Bound::exhaustive(3_000).check_and_refute(
        "tour 6: a count of finished claims",
        |bug| race(bug, pushes),
        &[
            // The thief has claimed item 0 and not read it yet. The owner writes item 2 over it.
            (Bug::ReusedByTop, "Causality violation"),
            // The owner sees that the thief has ended, and has no edge from its copying.
            (Bug::DoneRelaxed, "Causality violation"),
        ],
    );
}

#[test]
fn stage_7_a_ring_is_replaced_under_a_closed_bottom() {
    Bound::exhaustive(55_000).check_and_refute(
        "tour 7: another ring",
        |bug| race(bug, replaces),
        &[
            // The thief has claimed item 0 and not read it yet. Its ring is freed.
            (Bug::FreedWithoutDone, "Causality violation"),
            // Between the tag and the new ring the thief pairs the new tag with the old ring,
            // which is then freed.
            (Bug::NotClosed, "Causality violation"),
            // The thief looked before the replacement, and its claim of an item that has moved
            // still succeeds.
            (Bug::ReplacedWithoutTag, "Causality violation"),
        ],
    );
}
