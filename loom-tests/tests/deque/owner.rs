//! A biased deque's owner beside thieves: of its own accord it answers, and shares.

use filch_deque::{Steal, Worker};
use filch_models::{Bound, Crossing};
use filch_sync::thread;

use super::{
    assert_ascending, assert_each_once, biased, in_peace, insistent_thief, pop_all_beside, rest,
    steal_surely, thief,
};

/// Two threads: a thief tries twice, asks thereby, and passes no fence. The owner pushes two items
/// and pops one, and answers in between. A failure: an item that the owner pops the short way after
/// the deque was shared.
#[test]
fn an_owner_answers() {
    Bound::preemptions(3, 700)
        .outcomes("biased: an owner answers a thief that asks", || {
            let _peace = in_peace();
            let worker = biased(4);
            let stolen = thief(worker.stealer(), 2);
            worker.push(0);
            worker.push(1);
            let own: Vec<_> = worker.pop().into_iter().collect();
            let stolen = stolen.join().unwrap();
            assert_each_once(2, &[&own, &stolen, &rest(&worker)]);
            stolen
        })
        .assert_exactly([vec![], vec![0]]);
}

/// Two threads: a thief asks while the owner pushes, and is gone. Whatever the owner did beside it,
/// what it pushes next is in reach. A failure: a request that no push answers, and a thief that
/// starves beside a full deque.
#[test]
fn no_request_is_lost() {
    Bound::exhaustive(40)
        .outcomes("biased: the next push answers", || {
            let _peace = in_peace();
            let worker = biased(4);
            let stealer = worker.stealer();
            let later = worker.stealer();
            let asker = thread::spawn(move || match stealer.steal() {
                Steal::Success(item) => vec![item],
                Steal::Empty => vec![],
                answer => panic!("a deque that is not the owner's: {answer:?}"),
            });
            worker.push(0);
            worker.push(1);
            let stolen = asker.join().unwrap();
            worker.push(2);
            let next: Vec<_> = later.steal().success().into_iter().collect();
            assert_eq!(next.len(), 1, "a lost request");
            assert_each_once(3, &[&stolen, &next, &rest(&worker)]);
            stolen
        })
        .assert_exactly([vec![]]);
}

/// Two threads: a thief asks an owner that has four items, and tries again, while the owner pops
/// two of them. The pop that follows the request answers it; one more takes the deque back, if the
/// thief has not come by then. A failure: a pop that goes the short way beside the thief's claim.
#[test]
fn a_pop_answers() {
    Bound::exhaustive(1_100)
        .outcomes("biased: the next pop answers", || {
            let _peace = in_peace();
            let worker = biased(8);
            worker.push_batch(0..4);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                assert_eq!(stealer.steal(), Steal::Empty, "it asks");
                stealer.steal()
            });
            let own: Vec<_> = (0..2).filter_map(|_| worker.pop()).collect();
            let second = thief.join().unwrap();
            let stolen: Vec<_> = second.success().into_iter().collect();
            assert_each_once(4, &[&own, &stolen, &rest(&worker)]);
            match second {
                Steal::Success(item) => Some(item),
                // The owner has taken the deque back.
                Steal::Empty | Steal::Retry => None,
            }
        })
        .assert_exactly([None, Some(0)]);
}

/// Two threads: a thief asks, waits for the answer as long as there is none, and takes the oldest
/// item. It passes no fence. A failure: the answer is there, and what it is about is not.
#[test]
fn a_thief_waits_for_the_answer() {
    Bound::preemptions(3, 36_000)
        .outcomes("biased: a thief waits for the answer", || {
            let _peace = in_peace();
            let worker = biased(4);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                if let Some(request) = stealer.ask() {
                    while request.is_pending() {
                        thread::yield_now();
                    }
                }
                steal_surely(&stealer)
            });
            worker.push(0);
            worker.push(1);
            let own: Vec<_> = worker.pop().into_iter().collect();
            worker.share();
            let answer = thief.join().unwrap();
            let stolen: Vec<_> = answer.success().into_iter().collect();
            assert_each_once(2, &[&own, &stolen, &rest(&worker)]);
            match answer {
                Steal::Success(item) => Some(item),
                Steal::Empty => None,
                Steal::Retry => panic!("item 0 is there"),
            }
        })
        // None: the pop's new tag was seen, and not yet that it shares.
        .assert_exactly([None, Some(0)]);
}

/// Two threads: the owner shares what it has, pushes one item more and pops all, beside a thief
/// that insists, twice. Both set the same flag. A failure: an item that a pop takes the short way
/// although the deque is shared.
#[test]
fn an_owner_shares() {
    Bound::preemptions(3, 10_000)
        .outcomes(
            "biased: an owner shares beside a thief that insists",
            || {
                let worker = biased(4);
                let thief = insistent_thief(worker.stealer(), 2);
                worker.push(0);
                worker.share();
                worker.push(1);
                pop_all_beside(&worker, 2, thief)
            },
        )
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: an owner that has shared everything is robbed without a word: its thief neither
/// asks nor insists. A failure: an item that is seen before it was written.
#[test]
fn what_is_shared_is_there_at_once() {
    Bound::exhaustive(2_000)
        .outcomes("biased: shared items need no request", || {
            let _peace = in_peace();
            let worker = biased(4);
            worker.push(0);
            let stolen = thief(worker.stealer(), 2);
            worker.push(1);
            worker.share();
            let stolen = stolen.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(2, &[&stolen, &rest(&worker)]);
            stolen
        })
        .assert_reached([vec![], vec![0]]);
}

/// Two threads: the owner pushes an item and pops it, both the short way, shares the empty deque,
/// and pushes another. A thief neither asks nor insists. A failure: the thief finds the deque
/// shared, and has not seen the pop.
#[test]
fn what_was_popped_is_not_shared() {
    Bound::exhaustive(1_500)
        .outcomes("biased: an empty deque is shared", || {
            let _peace = in_peace();
            let worker = biased(4);
            let stolen = thief(worker.stealer(), 1);
            worker.push(0);
            let popped = worker.pop();
            worker.share();
            worker.push(1);
            let stolen = stolen.join().unwrap();
            assert_eq!(popped, Some(0), "a thief has not waited for its answer");
            assert_each_once(2, &[&[0], &stolen, &rest(&worker)]);
            stolen
        })
        .assert_exactly([vec![], vec![1]]);
}

/// Pushes the items `0..count` together.
fn push_together(worker: &Worker<u32>, count: u32) {
    let mut items = 0..count;
    // SAFETY: a range has nothing to do with the deque.
    unsafe { worker.push_together(count as usize, || items.next().unwrap()) };
}

/// Two threads: the owner pushes two items together, for which the ring has to grow. A thief tries
/// twice, and counts what is left when it has the first. A failure: it has that while the second is
/// not there, or is being written.
#[test]
fn items_that_are_pushed_together_come_together() {
    Bound::exhaustive(4_600)
        .outcomes("shared: two items pushed together", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let stealer = worker.stealer();
            let thief = thread::spawn(move || {
                let oldest = stealer.steal().success();
                assert!(oldest.is_none() || stealer.len() == 1, "not together");
                let next = stealer.steal().success();
                Vec::from_iter(oldest.into_iter().chain(next))
            });
            push_together(&worker, 2);
            let stolen = thief.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(2, &[&stolen, &rest(&worker)]);
            stolen
        })
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: the owner of a biased deque pushes two items together and pops both, beside a thief
/// that insists, twice. A failure: an item with two takers or none, or one that is read while it is
/// being written.
#[test]
fn a_biased_deque_is_given_items_together() {
    Bound::preemptions(3, 3_200)
        .outcomes(
            "biased: two items pushed together beside a thief that insists",
            || {
                let worker = biased(4);
                let thief = insistent_thief(worker.stealer(), 2);
                push_together(&worker, 2);
                pop_all_beside(&worker, 2, thief)
            },
        )
        .assert_exactly([vec![], vec![0], vec![0, 1]]);
}

/// Two threads: the owner goes to and fro, and takes the deque back each time that no thief has
/// come; a thief that is slow asks, and comes back for what it was given. A failure: a claim with a
/// tag from before the deque was taken back.
#[test]
fn the_deque_changes_hands_and_back() {
    Bound::preemptions(3, 3_200)
        .outcomes("biased: shared and taken back", || {
            let _peace = in_peace();
            let worker = biased(2);
            let crossing = Crossing::new();
            let stealer = worker.stealer();
            let thief = thread::spawn({
                let crossing = crossing.clone();
                move || {
                    let answers = [(); 2].map(|()| {
                        crossing.pass();
                        stealer.steal()
                    });
                    answers
                        .map(Steal::success)
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                }
            });
            let mut own = Vec::new();
            for item in 0..2 {
                worker.push(item);
                crossing.pass();
                own.extend(worker.pop());
            }
            let stolen = thief.join().unwrap();
            assert_ascending(&stolen);
            assert_each_once(2, &[&own, &stolen]);
            stolen
        })
        .assert_exactly([vec![], vec![0], vec![1]]);
}
