//! The ring of a biased deque: growth, shrinking, wrapping, the end of the owner.

use filch_models::Bound;
use filch_sync::cell::UnsafeCell;
use filch_sync::{Arc, thread};

use super::rings::the_owner_goes;
use super::{
    assert_each_once, biased, biased_after, insist, insistent_thief, push_and_pop, push_beside,
    rest,
};

/// Two threads: a ring of two slots is its owner's, under a thief that insists and takes, twice.
/// The owner pushes three items: it grows to four, or slots that the thief has read are written
/// again. A failure: the thief pairs the old ring with the epoch of the new one, or reads a slot
/// while it is written.
#[test]
fn the_ring_grows_or_turns_under_a_thief() {
    Bound::preemptions(3, 52_000)
        .outcomes("biased: growth while stealing", || {
            let worker = biased(2);
            let thief = insistent_thief(worker.stealer(), 2);
            let stolen = push_beside(&worker, 3, thief);
            (stolen, worker.capacity() == 2)
        })
        .assert_exactly([
            (vec![], false),
            (vec![0], false),
            (vec![0, 1], false),
            (vec![0, 1], true),
        ]);
}

/// Three threads: growth under two thieves that insist.
#[test]
fn the_ring_grows_under_two_thieves() {
    Bound::preemptions(2, 23_000).check("biased: growth under two thieves", || {
        let worker = biased(1);
        let second = insistent_thief(worker.stealer(), 1);
        let first = insistent_thief(worker.stealer(), 1);
        worker.push_batch(0..2);
        let own: Vec<_> = worker.pop().into_iter().collect();
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert_each_once(2, &[&own, &first, &second, &rest(&worker)]);
    });
}

/// Two threads: the owner makes room, shrinks the ring and pops, beside a thief that insists. Each
/// of the first two begins an epoch and decides anew whose the deque is. A failure: an epoch that
/// keeps the stops of the one before although a thief has moved them.
#[test]
fn the_ring_is_replaced_at_will() {
    Bound::preemptions(3, 19_000)
        .outcomes("biased: reserve and shrink beside a thief", || {
            let worker = biased(4);
            worker.push(0);
            let thief = insistent_thief(worker.stealer(), 1);
            worker.try_reserve(4).unwrap();
            worker.push(1);
            worker.shrink_to(1);
            let own: Vec<_> = worker.pop().into_iter().collect();
            let stolen = thief.join().unwrap();
            assert_each_once(2, &[&own, &stolen, &rest(&worker)]);
            (own, stolen)
        })
        .assert_exactly([(vec![1], vec![]), (vec![1], vec![0])]);
}

/// Two threads: pushes and pops beside a thief that insists, where tag and index wrap. A failure: a
/// comparison that forgot to.
#[test]
fn tag_and_index_wrap_around() {
    for before in [0, 2, 4] {
        Bound::preemptions(2, 3_900)
            .outcomes("biased: tag and index wrap", move || {
                let worker = biased_after(2, u32::MAX - before, 9);
                push_and_pop(&worker, 3, insistent_thief(worker.stealer(), 2)).len()
            })
            .assert_exactly([0, 1, 2]);
    }
}

/// See [`the_owner_goes`].
#[test]
fn the_owner_goes_with_items_left() {
    Bound::preemptions(2, 61_000).check("biased: worker dropped with thieves in flight", || {
        the_owner_goes(true);
    });
}

/// An item with contents: whoever has it may change them.
struct Contents(UnsafeCell<u32>);

// SAFETY: the deque says who may touch it, which is what the model is about.
unsafe impl Send for Contents {}
// SAFETY: as above.
unsafe impl Sync for Contents {}

/// Takes the contents out, as the only one that has the item.
fn take(item: &Arc<Contents>) -> u32 {
    // SAFETY: nobody else has it, or loom says so.
    item.0
        .with_mut(|contents| std::mem::replace(unsafe { &mut *contents }, u32::MAX))
}

/// Three threads, and all at once: items on the heap, in a ring that grows from one slot, where tag
/// and index wrap; one thief insists and takes half into a biased deque of its own, another one
/// takes one, and the owner pops and goes. A failure: contents that two have, or that are read
/// before they were written; an item or a ring that leaks; an item that a claim on the old ring
/// takes.
#[test]
fn all_of_it_at_once() {
    Bound::preemptions(2, 130_000)
        .outcomes("biased: growth, wrap, half and heap items", || {
            let item = |id| Arc::new(Contents(UnsafeCell::new(id)));
            let worker = biased_after(1, u32::MAX - 2, item(9));
            let (single, half) = (worker.stealer(), worker.stealer());
            let half = thread::spawn(move || {
                let own = biased_after(1, u32::MAX, item(9));
                insist(&half);
                let oldest = half.steal_half_into(&own, 8).success();
                let others = std::iter::from_fn(|| own.pop());
                oldest
                    .into_iter()
                    .chain(others)
                    .map(|item| take(&item))
                    .collect::<Vec<_>>()
            });
            let single = thread::spawn(move || {
                let item = single.steal().success();
                item.iter().map(take).collect::<Vec<_>>()
            });
            for id in 0..3 {
                worker.push(item(id));
            }
            let popped: Vec<_> = worker.pop().iter().map(take).collect();
            let (single, half) = (single.join().unwrap(), half.join().unwrap());
            let left: Vec<_> = std::iter::from_fn(|| worker.pop())
                .map(|item| take(&item))
                .collect();
            assert_each_once(3, &[&popped, &single, &half, &left]);
            (single.len(), half.len())
        })
        .assert_reached([(0, 0), (0, 1), (0, 2), (1, 1)]);
}
