//! What a fork/join recursion wants of a lazy deque: items that are nested, and few of them hidden.

use std::cell::Cell;

use filch_deque::{Steal, Worker};

/// Whether an index is that one, or behind it.
fn since(base: u32) -> impl Fn(u32) -> bool {
    move |index| index.wrapping_sub(base) as i32 >= 0
}

/// A thief that steals back from another one takes nothing that this one had before.
#[test]
fn what_lies_before_an_index_is_left_alone() {
    let worker = Worker::lazy_starting_at(8, u32::MAX - 1);
    let stealer = worker.stealer();
    worker.push_batch(0..2);
    let base = worker.position() as u32;
    assert_eq!(base, 0, "it has wrapped");
    worker.push_batch(2..4);
    worker.flush();
    assert_eq!(stealer.steal_if(since(base)), Steal::Empty);
    assert_eq!(
        stealer.steal_if(since(base.wrapping_sub(2))),
        Steal::Success(0)
    );
    assert_eq!(stealer.steal(), Steal::Success(1));
    assert_eq!(stealer.steal_if(since(base)), Steal::Success(2));
}

/// However many are pushed, no more than 16 are out of reach.
#[test]
fn a_lazy_owner_keeps_few_items_private() {
    let worker = Worker::lazy(4);
    for pushed in 1..100_usize {
        worker.push(pushed);
        assert!(worker.len() - worker.stealer().len() <= 16);
    }
    worker.push_batch(0..1_000);
    assert!(worker.len() - worker.stealer().len() <= 16);
    while worker.pop().is_some() {
        assert!(worker.len() - worker.stealer().len() <= 16);
    }
}

/// One that may hide fewer hides fewer, and takes back what thieves have left.
#[test]
fn a_lazy_owner_may_be_told_to_hide_nothing() {
    for most in [0, 1, 5] {
        let worker = Worker::lazy(4).with_max_private(most);
        let mut left = 0;
        for pushed in 0..100_usize {
            worker.push(pushed);
            left += 1;
            assert!(worker.len() - worker.stealer().len() <= most as usize);
            if pushed % 3 == 2 {
                assert!(worker.pop().is_some());
                assert!(worker.stealer().steal().is_success());
                left -= 2;
                assert!(worker.len() - worker.stealer().len() <= most as usize);
            }
        }
        assert_eq!(worker.len(), left);
        while worker.pop().is_some() {
            left -= 1;
            assert!(worker.len() - worker.stealer().len() <= most as usize);
        }
        assert_eq!(left, 0);
    }
}

/// One that is asked by nobody shows more than half of what is too much, and then nothing for a
/// while.
#[test]
fn a_lazy_owner_does_not_publish_at_each_push() {
    let worker = Worker::lazy(64);
    worker.push(0);
    assert_eq!(worker.stealer().len(), 1);
    worker.push_batch(1..18);
    assert_eq!(worker.stealer().len(), 12, "more than 16 would be private");
    for _ in 0..100 {
        worker.push(18);
        worker.pop();
    }
    assert_eq!(worker.stealer().len(), 12);
}

/// A thief that has something to say interrupts the owner, also where there is enough to steal.
#[test]
fn an_owner_is_interrupted() {
    let worker = Worker::lazy(8);
    worker.push_batch(0..2);
    worker.flush();
    worker.push(2);
    let position = worker.position();
    worker.stealer().interrupt();
    // SAFETY: it is the position of now.
    assert!(!unsafe { worker.try_push_at(position, 3) });
}

/// An owner tells once that it has made something public.
#[test]
fn a_lazy_owner_knows_what_it_has_published() {
    let worker = Worker::lazy(8);
    worker.push(0);
    assert!(worker.has_published(), "one is in reach");
    assert!(!worker.has_published());
    worker.push(1);
    worker.push(2);
    assert!(!worker.has_published(), "nobody has asked");
    assert_eq!(worker.stealer().steal(), Steal::Success(0));
    worker.pop();
    assert!(worker.has_published(), "the last one was stolen");
    worker.flush();
    assert!(!worker.has_published(), "there was nothing to show");
    worker.push(3);
    worker.flush();
    assert!(worker.has_published());
}

/// Whatever thieves take, the owner's next call shows one more.
#[test]
fn one_is_always_in_reach() {
    let worker = Worker::lazy(8);
    let stealer = worker.stealer();
    for round in 0..50 {
        worker.push(round);
        assert_eq!(stealer.len(), 1, "the first one");
        worker.push(round);
        assert_eq!(stealer.len(), 1);
        // Taken by its owner, or by a thief.
        if round % 2 == 0 {
            assert!(stealer.steal().is_success());
            worker.push(round);
            assert!(!stealer.is_empty(), "asked for");
        }
        while worker.pop().is_some() {
            assert!(worker.is_empty() || !stealer.is_empty());
        }
    }
}

/// The short way is taken where there is nothing else to do, and only there.
#[test]
fn nested_items_take_the_short_way() {
    let worker = Worker::lazy(8);
    let push = |item: u32| {
        let position = worker.position();
        // SAFETY: it is the position of now.
        (position, unsafe { worker.try_push_at(position, item) })
    };
    let (outer, short) = push(10);
    assert!(!short, "nothing would be public");
    assert_eq!(worker.len(), 0, "nothing has happened");
    worker.push(10);
    let (inner, short) = push(11);
    assert!(short, "one is public, nobody has asked, and there is room");
    // SAFETY: here and below: what was pushed after the item has been taken back.
    assert!(unsafe { worker.try_take_back(inner) }, "it is private");
    let (_, short) = push(12);
    assert!(short);
    assert_eq!(worker.pop(), Some(12), "it lies where it was pushed");
    // SAFETY: as above.
    assert!(!unsafe { worker.try_take_back(outer) }, "it is public");
    assert!(worker.take_back());
    assert!(!worker.take_back(), "there is none");

    worker.push(13);
    let (asked, short) = push(14);
    assert!(short);
    assert_eq!(worker.stealer().steal(), Steal::Success(13));
    assert!(worker.stealer().demand(), "the other one is private");
    // SAFETY: as above.
    assert!(!unsafe { worker.try_take_back(asked) }, "a thief wants it");
    assert!(worker.take_back());
    let (_, short) = push(15);
    assert!(!short, "it still does");
}

/// What becomes public is prepared before, and nothing else is.
#[test]
fn an_item_is_prepared_when_it_becomes_public() {
    let items = [const { Cell::new(0) }; 40];
    let times = || items.each_ref().map(Cell::get);
    let worker = Worker::lazy_starting_at(4, u32::MAX - 20).prepared_by(|item| {
        let item: &&Cell<u32> = item;
        item.set(item.get() + 1);
    });
    for item in &items {
        worker.push(item);
        let public = worker.stealer().len();
        let prepared = times().iter().filter(|&&times| times > 0).count();
        assert_eq!(prepared, public, "those that thieves can see");
        assert_eq!(times()[..public], vec![1; public], "the oldest ones, once");
    }
    // It takes some back, and they become public again.
    let before = worker.stealer().len();
    while worker.stealer().len() == before {
        worker.pop();
    }
    let taken_back = worker.stealer().len()..worker.len();
    assert!(!taken_back.is_empty());
    worker.flush();
    for (item, times) in times()[..worker.len()].iter().enumerate() {
        assert_eq!(*times, if taken_back.contains(&item) { 2 } else { 1 });
    }
    assert_eq!(times()[39], 0, "popped before anybody could see it");
}
