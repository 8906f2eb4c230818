//! What goes wrong with deques like ours, in small copies, and that the checker sees it.
//!
//! First the textbook deque with a thief that claims half by one compare-and-swap; then our protocol with one
//! step left out or out of place. Each scenario also passes without the bug: the model itself is not at fault.
#![cfg(loom)]

use filch_sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};
use loom_tests::{Bound, check, refute};

/// Panics unless the items `0..count` are in `takes`, each once.
fn assert_each_once(count: u32, takes: impl IntoIterator<Item = u32>) {
    let mut takers = vec![0; count as usize];
    for item in takes {
        takers[item as usize] += 1;
    }
    assert!(takers.iter().all(|&n| n <= 1), "an item handed out twice");
    assert!(takers.iter().all(|&n| n == 1), "an item lost");
}

/// The deque of Chase and Lev, with the orderings of Lê and others (PPoPP 2013), in a ring that does not grow.
struct ChaseLev {
    top: AtomicU32,
    bottom: AtomicU32,
    slots: [AtomicU32; 4],
}

impl ChaseLev {
    fn with_items(count: u32) -> Self {
        Self {
            top: AtomicU32::new(0),
            bottom: AtomicU32::new(count),
            slots: std::array::from_fn(|item| AtomicU32::new(item as u32)),
        }
    }

    fn slot(&self, index: u32) -> u32 {
        self.slots[index as usize].load(Ordering::Relaxed)
    }

    fn pop(&self) -> Option<u32> {
        let last = self.bottom.load(Ordering::Relaxed).checked_sub(1)?;
        self.bottom.store(last, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let top = self.top.load(Ordering::Relaxed);
        if top < last {
            // More than one item: the textbook owner takes the last without asking.
            return Some(self.slot(last));
        }
        self.bottom.store(last + 1, Ordering::Relaxed);
        let won = top == last && self.claim(top, 1);
        won.then(|| self.slot(last))
    }

    /// Takes what `share` makes of the number of items that the thief saw.
    fn steal(&self, share: impl FnOnce(u32) -> u32) -> Vec<u32> {
        let top = self.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let bottom = self.bottom.load(Ordering::Acquire);
        let count = share(bottom.saturating_sub(top));
        let copies = (top..top + count).map(|index| self.slot(index)).collect();
        if count > 0 && self.claim(top, count) {
            copies
        } else {
            Vec::new()
        }
    }

    fn claim(&self, top: u32, count: u32) -> bool {
        self.top
            .compare_exchange(top, top + count, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

/// Four items; the owner pops them all while a thief takes its share once.
fn textbook(share: fn(u32) -> u32) {
    let deque = Arc::new(ChaseLev::with_items(4));
    let thief = thread::spawn({
        let deque = deque.clone();
        move || deque.steal(share)
    });
    let own: Vec<_> = std::iter::from_fn(|| deque.pop()).collect();
    assert_each_once(4, own.into_iter().chain(thief.join().unwrap()));
}

/// The thief sees four items and copies items 0 and 1. The owner pops 3, 2 and then 1: `top` is still 0, below 1, so
/// it does not ask. The thief's compare-and-swap from 0 to 2 succeeds: item 1 has two takers. Sequential consistency
/// does not help; nothing here is reordered.
#[test]
fn textbook_half_by_one_cas_hands_an_item_out_twice() {
    refute(
        "Chase-Lev whose thief claims half by one CAS",
        "handed out twice",
        Bound::preemptions(3, 1),
        || textbook(|count| count / 2),
    );
}

/// The twin: one item per compare-and-swap, as Chase and Lev wrote it.
#[test]
fn textbook_one_by_one_is_sound() {
    check(
        "Chase-Lev whose thief claims one item",
        Bound::exhaustive(100),
        || textbook(|count| count.min(1)),
    );
}

/// What is wrong with a [`Miniature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// Pop lowers `split` and looks where the thieves are, but leaves the tag as it is.
    NoTagBump,
    /// Pop bumps the tag first and lowers `split` afterwards.
    LoweredAfterBump,
    /// The store that lowers `split` is Relaxed.
    LoweredRelaxed,
    /// Push reuses a slot as soon as `top` has passed it, not when the claim has finished.
    ReuseByTop,
    /// A replaced ring is freed at once, not when the claims of it have finished.
    FreedWithoutDone,
    /// The ring is replaced while `split` still offers items.
    NotClosed,
    /// The ring is replaced under the same tag.
    ReplacedWithoutBump,
}

const SLOTS: u32 = 2;
const TAG: u64 = 1 << 32;

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
        // SAFETY: loom checks that nobody else has access: that is what these models are about.
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
    split: AtomicU32,
    ring: AtomicUsize,
    rings: [MiniRing; 2],
}

/// What the owner knows.
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
            split: AtomicU32::new(0),
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
        self.split.store(owner.bottom, Ordering::Release);
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
            self.split.store(last, ordering);
            top
        } else {
            self.split.store(last, ordering);
            self.top.fetch_add(bump, Ordering::AcqRel)
        };
        if top as u32 == owner.bottom {
            self.split.store(owner.bottom, Ordering::Release);
            return None;
        }
        owner.bottom = last;
        Some(self.rings[self.ring.load(Ordering::Relaxed)].read(last))
    }

    /// Moves from ring 0 to ring 1, and frees ring 0 when its claims have finished.
    fn replace(&self, owner: &mut Owner) {
        let [old, new] = &self.rings;
        if self.bug != Bug::NotClosed {
            self.split
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
        // The claims of ring 1 are counted on: its base is 0, not `top`.
        new.done.store(top, Ordering::Relaxed);
        self.ring.store(1, Ordering::Release);
        self.split.store(owner.bottom, Ordering::Release);
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
        let split = self.split.load(Ordering::Acquire);
        let ring = &self.rings[self.ring.load(Ordering::Acquire)];
        if split.wrapping_sub(index) as i32 <= 0 {
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

/// What the owner does beside a thief: returns how many items it pushed, and those that it popped.
type Part = fn(&Miniature, &mut Owner) -> (u32, Vec<u32>);

/// Two items in, two out.
fn pops(deque: &Miniature, owner: &mut Owner) -> (u32, Vec<u32>) {
    assert!(deque.push(owner, 0) && deque.push(owner, 1));
    let popped = (0..2).filter_map(|_| deque.pop(owner)).collect();
    (2, popped)
}

/// As many items as there is room for, up to four: the third lies where the first was.
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
fn scenario(bug: Bug, part: Part) -> impl Fn() + Send + Sync + 'static {
    move || {
        let deque = Miniature::new(bug);
        let thief = thread::spawn({
            let deque = deque.clone();
            move || -> Vec<u32> { (0..2).filter_map(|_| deque.steal()).collect() }
        });
        let mut owner = Owner::default();
        let (pushed, popped) = part(&deque, &mut owner);
        let stolen = thief.join().unwrap();
        let rest = std::iter::from_fn(|| deque.pop(&mut owner));
        assert_each_once(pushed, popped.into_iter().chain(stolen).chain(rest));
    }
}

#[test]
fn the_miniature_pops_soundly() {
    check(
        "miniature: pops",
        Bound::exhaustive(2),
        scenario(Bug::None, pops),
    );
}

#[test]
fn the_miniature_reuses_slots_soundly() {
    check(
        "miniature: slot reuse",
        Bound::exhaustive(2),
        scenario(Bug::None, pushes),
    );
}

#[test]
fn the_miniature_replaces_its_ring_soundly() {
    check(
        "miniature: ring replacement",
        Bound::exhaustive(2),
        scenario(Bug::None, replaces),
    );
}

/// The thief has looked at both items; the owner pops one of them and the thief's claim of it still succeeds.
#[test]
fn without_a_tag_bump_an_item_is_handed_out_twice() {
    refute(
        "pop without a tag bump",
        "handed out twice",
        Bound::preemptions(3, 1),
        scenario(Bug::NoTagBump, pops),
    );
}

/// Between the bump and the lowering the thief reads the new tag and the old `split`: its claim succeeds.
#[test]
fn lowered_after_the_bump_an_item_is_handed_out_twice() {
    refute(
        "split lowered after the bump",
        "handed out twice",
        Bound::preemptions(3, 1),
        scenario(Bug::LoweredAfterBump, pops),
    );
}

/// The thief reads the lowered `split`, which says that item 0 is there, and has no edge to the writing of item 0.
#[test]
fn lowered_relaxed_an_item_is_read_before_it_is_written() {
    refute(
        "split lowered by a Relaxed store",
        "Causality violation",
        Bound::preemptions(3, 1),
        scenario(Bug::LoweredRelaxed, pops),
    );
}

/// The thief has claimed item 0 and not read it yet; the owner writes item 2 over it.
#[test]
fn without_done_a_claimed_slot_is_overwritten() {
    refute(
        "slots reused as soon as top has passed",
        "Causality violation",
        Bound::preemptions(3, 1),
        scenario(Bug::ReuseByTop, pushes),
    );
}

/// The thief has claimed item 0 and not read it yet; its ring is gone.
#[test]
fn without_done_a_ring_is_freed_under_a_thief() {
    refute(
        "replaced ring freed at once",
        "Causality violation",
        Bound::preemptions(3, 1),
        scenario(Bug::FreedWithoutDone, replaces),
    );
}

/// Between the bump and the new ring the thief pairs the new tag with the old ring, which is then freed.
#[test]
fn replaced_without_closing_a_freed_ring_is_read() {
    refute(
        "ring replaced while split offers items",
        "Causality violation",
        Bound::preemptions(3, 1),
        scenario(Bug::NotClosed, replaces),
    );
}

/// The thief looked before the replacement, and its claim of an item that has moved still succeeds.
#[test]
fn replaced_under_the_same_tag_a_freed_ring_is_read() {
    refute(
        "ring replaced without a tag bump",
        "Causality violation",
        Bound::preemptions(3, 1),
        scenario(Bug::ReplacedWithoutBump, replaces),
    );
}
