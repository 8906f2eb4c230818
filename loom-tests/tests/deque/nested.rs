//! Items that the owner takes back unread, beside thieves.

use filch_deque::Worker;
use filch_models::Bound;
use filch_sync::thread::JoinHandle;

use super::{
    assert_ascending, assert_each_once, biased, biased_after, in_peace, insistent_thief, thief,
};

/// Returns where the item lies.
fn push(worker: &Worker<u32>, item: u32) -> u64 {
    let position = worker.position();
    // SAFETY: it is the position of now, and `finish_push` follows.
    if !unsafe { worker.push_at(position, item) } {
        worker.finish_push();
    }
    position
}

fn take_back(worker: &Worker<u32>, position: u64) -> bool {
    // SAFETY: the item there is the newest; and the one follows the other.
    unsafe { worker.take_back(position) || worker.take_back_slowly() }
}

/// The owner nests `items`, and takes them back, the last one first, beside thieves; what it gets
/// back is not read. Returns that.
fn nest<const N: usize>(worker: &Worker<u32>, items: [u32; N]) -> Vec<u32> {
    let nested = items.map(|item| (item, push(worker, item)));
    let newest_first = nested.into_iter().rev();
    newest_first
        .filter_map(|(item, position)| take_back(worker, position).then_some(item))
        .collect()
}

/// [`nest`] beside one thief. Returns what that has stolen.
fn nest_beside<const N: usize>(
    worker: &Worker<u32>,
    items: [u32; N],
    thief: JoinHandle<Vec<u32>>,
) -> Vec<u32> {
    let own = nest(worker, items);
    let stolen = thief.join().unwrap();
    assert_ascending(&stolen);
    assert_each_once(N as u32, &[&own, &stolen]);
    assert!(worker.is_empty());
    stolen
}

/// Two threads: the owner nests three items and takes them back, a thief insists and takes what it
/// finds, twice. A failure: an item that both have, or neither; or a slot that is written while the
/// thief reads it.
#[test]
fn an_item_is_taken_back_or_stolen() {
    Bound::preemptions(3, 6_400)
        .outcomes("biased: nested items, taken back or stolen", || {
            let worker = biased(4);
            let thief = insistent_thief(worker.stealer(), 2);
            nest_beside(&worker, [0, 1, 2], thief)
        })
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: all of three items are shared, and may all be stolen while the owner takes back the
/// last. It then finds one after the other to be gone, and goes on where the thief is. A failure: a
/// `bottom` that is left behind the thief.
#[test]
fn all_may_be_gone() {
    Bound::preemptions(3, 47_000)
        .outcomes("shared: nested items, all stolen or some", || {
            let _peace = in_peace();
            let worker: Worker<u32> = Worker::starting_at(4, u32::MAX - 1, true);
            let thief = thief(worker.stealer(), 3);
            let stolen = nest_beside(&worker, [0, 1, 2], thief);
            let position = push(&worker, 3);
            assert!(take_back(&worker, position));
            stolen.len()
        })
        .assert_exactly([0, 1, 2, 3]);
}

/// Three threads: two items in a ring of two slots, which grows, where tag and index wrap, beside
/// two thieves that insist. A failure as above.
#[test]
fn the_ring_grows_under_nested_items() {
    Bound::preemptions(2, 34_800)
        .outcomes("biased: nested items, growth and two thieves", || {
            let worker = biased_after(1, u32::MAX - 2, 9);
            let second = insistent_thief(worker.stealer(), 1);
            let first = insistent_thief(worker.stealer(), 1);
            let own = nest(&worker, [0, 1]);
            let (first, second) = (first.join().unwrap(), second.join().unwrap());
            assert_each_once(2, &[&own, &first, &second]);
            own
        })
        .assert_exactly([vec![], vec![1], vec![1, 0]]);
}
