//! Our protocol in miniature, with one step left out or out of place.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use filch_sync::cell::UnsafeCell;
use loom_tests::{Bound, beside};

use super::{TAG, assert_each_once};

/// The bug of a [`Miniature`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bug {
    #[default]
    None,
    /// Pop lowers `bottom` and learns how far thieves are, but leaves the tag as it is.
    NoTagBump,
    /// Pop bumps the tag first and lowers `bottom` afterwards.
    LoweredAfterBump,
    /// The store that lowers `bottom` is Relaxed.
    LoweredRelaxed,
    /// Push reuses a slot as soon as `top` has passed it, before the claim has finished.
    ReuseByTop,
    /// A replaced ring is freed at once, before the claims of it have finished.
    FreedWithoutDone,
    /// The ring is replaced while `bottom` still offers items.
    NotClosed,
    /// The ring is replaced under the same tag.
    ReplacedWithoutBump,
}

const SLOTS: u32 = 2;

struct MiniRing {
    done: AtomicU32,
    /// `None` once the ring is "freed".
    slots: [UnsafeCell<Option<u32>>; SLOTS as usize],
}

impl MiniRing {
    fn new() -> Self {
        Self {
            done: AtomicU32::new(0),
            slots: std::array::from_fn(|_| UnsafeCell::new(None)),
        }
    }

    fn write(&self, index: u32, item: Option<u32>) {
        // SAFETY: loom checks that no other thread has access, which is what these models are
        // about.
        self.slots[(index % SLOTS) as usize].with_mut(|slot| unsafe { *slot = item });
    }

    fn read(&self, index: u32) -> u32 {
        // SAFETY: as above.
        self.slots[(index % SLOTS) as usize]
            .with(|slot| unsafe { *slot })
            .expect("read from a freed ring")
    }
}

/// Our protocol, cut down: word-sized items, two rings of two slots, a replacement on demand.
struct Miniature {
    bug: Bug,
    top: AtomicU64,
    bottom: AtomicU32,
    ring: AtomicUsize,
    rings: [MiniRing; 2],
}

/// The owner's knowledge.
#[derive(Default)]
struct Owner {
    bottom: u32,
    safe: u32,
}

impl Miniature {
    fn new(bug: Bug) -> Arc<Self> {
        Arc::new(Self {
            bug,
            top: AtomicU64::new(0),
            bottom: AtomicU32::new(0),
            ring: AtomicUsize::new(0),
            rings: [MiniRing::new(), MiniRing::new()],
        })
    }

    fn push(&self, owner: &mut Owner, item: u32) -> bool {
        let ring = &self.rings[self.ring.load(Ordering::Relaxed)];
        if owner.bottom - owner.safe == SLOTS {
            let done = ring.done.load(Ordering::Acquire);
            let top = self.top.load(Ordering::Acquire) as u32;
            owner.safe = if self.bug == Bug::ReuseByTop || done == top {
                top
            } else {
                owner.safe
            };
        }
        if owner.bottom - owner.safe == SLOTS {
            return false;
        }
        ring.write(owner.bottom, Some(item));
        owner.bottom += 1;
        self.bottom.store(owner.bottom, Ordering::Release);
        true
    }

    fn pop(&self, owner: &mut Owner) -> Option<u32> {
        let last = owner.bottom.checked_sub(1)?;
        let bump = if self.bug == Bug::NoTagBump { 0 } else { TAG };
        let ordering = match self.bug {
            Bug::LoweredRelaxed => Ordering::Relaxed,
            _ => Ordering::Release,
        };
        let top = if self.bug == Bug::LoweredAfterBump {
            let top = self.top.fetch_add(bump, Ordering::AcqRel);
            self.bottom.store(last, ordering);
            top
        } else {
            self.bottom.store(last, ordering);
            self.top.fetch_add(bump, Ordering::AcqRel)
        };
        if top as u32 == owner.bottom {
            self.bottom.store(owner.bottom, Ordering::Release);
            return None;
        }
        owner.bottom = last;
        Some(self.rings[self.ring.load(Ordering::Relaxed)].read(last))
    }

    /// Moves from ring 0 to ring 1, and frees ring 0 when its claims have finished.
    fn replace(&self, owner: &mut Owner) {
        let [old, new] = &self.rings;
        if self.bug != Bug::NotClosed {
            self.bottom
                .store(owner.bottom.wrapping_sub(1 << 31), Ordering::Release);
        }
        let bump = if self.bug == Bug::ReplacedWithoutBump {
            0
        } else {
            TAG
        };
        let top = self.top.fetch_add(bump, Ordering::AcqRel) as u32;
        for index in top..owner.bottom {
            new.write(index, Some(old.read(index)));
        }
        // Ring 1 goes on with the count of claims: its base is 0, not `top`.
        new.done.store(top, Ordering::Relaxed);
        self.ring.store(1, Ordering::Release);
        self.bottom.store(owner.bottom, Ordering::Release);
        owner.safe = top;
        if self.bug == Bug::FreedWithoutDone || old.done.load(Ordering::Acquire) == top {
            for index in 0..SLOTS {
                old.write(index, None);
            }
        }
    }

    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Ordering::Acquire);
        let index = top as u32;
        let bottom = self.bottom.load(Ordering::Acquire);
        let ring = &self.rings[self.ring.load(Ordering::Acquire)];
        if bottom.wrapping_sub(index) as i32 <= 0 {
            return None;
        }
        self.top
            .compare_exchange(top, top + 1, Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        let item = ring.read(index);
        ring.done.fetch_add(1, Ordering::Release);
        Some(item)
    }
}

/// The owner's part beside a thief. Returns the number of items it pushed, and those it popped.
type Part = fn(&Miniature, &mut Owner) -> (u32, Vec<u32>);

/// Two items in, two out.
fn pops(deque: &Miniature, owner: &mut Owner) -> (u32, Vec<u32>) {
    assert!(deque.push(owner, 0) && deque.push(owner, 1));
    let popped = (0..2).filter_map(|_| deque.pop(owner)).collect();
    (2, popped)
}

/// Pushes while there is room, up to four. The third goes to the slot of the first.
fn pushes(deque: &Miniature, owner: &mut Owner) -> (u32, Vec<u32>) {
    let count = (0..4).take_while(|&item| deque.push(owner, item)).count();
    (count as u32, Vec::new())
}

/// Two items in, then another ring.
fn replaces(deque: &Miniature, owner: &mut Owner) -> (u32, Vec<u32>) {
    assert!(deque.push(owner, 0) && deque.push(owner, 1));
    deque.replace(owner);
    (2, Vec::new())
}

/// Two threads: the owner plays its part, a thief tries twice; then the owner pops what is left.
fn scenario(bug: Bug, part: Part) {
    let deque = Miniature::new(bug);
    let thief = beside(&deque, |deque| -> Vec<u32> {
        (0..2).filter_map(|_| deque.steal()).collect()
    });
    let mut owner = Owner::default();
    let (pushed, popped) = part(&deque, &mut owner);
    let stolen = thief.join().unwrap();
    let rest = std::iter::from_fn(|| deque.pop(&mut owner));
    assert_each_once(pushed, popped.into_iter().chain(stolen).chain(rest));
}

#[test]
fn the_miniature_pops() {
    Bound::exhaustive(18_000).check_and_refute(
        "miniature: pops",
        |bug| scenario(bug, pops),
        &[
            // The thief has looked at both items. The owner pops one of them, and the thief's claim
            // of it still succeeds.
            (Bug::NoTagBump, "handed out twice"),
            // Between the bump and the lowering the thief reads the new tag and the old `bottom`:
            // its claim succeeds.
            (Bug::LoweredAfterBump, "handed out twice"),
            // The thief reads the lowered `bottom`, which says that item 0 is there, and has no
            // edge from the write of item 0.
            (Bug::LoweredRelaxed, "Causality violation"),
        ],
    );
}

#[test]
fn the_miniature_reuses_slots() {
    Bound::exhaustive(2_700).check_and_refute(
        "miniature: slot reuse",
        |bug| scenario(bug, pushes),
        // The thief has claimed item 0 and not read it yet. The owner writes item 2 over it.
        &[(Bug::ReuseByTop, "Causality violation")],
    );
}

#[test]
fn the_miniature_replaces_its_ring() {
    Bound::exhaustive(59_000).check_and_refute(
        "miniature: ring replacement",
        |bug| scenario(bug, replaces),
        &[
            // The thief has claimed item 0 and not read it yet. Its ring is freed.
            (Bug::FreedWithoutDone, "Causality violation"),
            // Between the bump and the new ring the thief pairs the new tag with the old ring,
            // which is then freed.
            (Bug::NotClosed, "Causality violation"),
            // The thief looked before the replacement, and its claim of an item that has moved
            // still succeeds.
            (Bug::ReplacedWithoutBump, "Causality violation"),
        ],
    );
}
