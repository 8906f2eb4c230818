//! One life after another: whose pushes are heard, and when a life may begin.

use filch_event_queue::{PushError, ReopenError};
use filch_models::{Bound, beside, beside_both};
use filch_sync::Arc;
use filch_sync::atomic::{AtomicU32, Ordering};

use super::queue::{Event, Queue};

/// The fate of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Fate {
    Accepted,
    Closed,
    Stale,
}

fn fate<T>(pushed: Result<(), PushError<T>>) -> Fate {
    match pushed {
        Ok(()) => Fate::Accepted,
        Err(PushError::Closed(_)) => Fate::Closed,
        Err(PushError::Stale(_)) => Fate::Stale,
        Err(other) => panic!("{other}"),
    }
}

/// A producer of the first life pushes, while the consumer ends that life and tries to begin the
/// next. The producer may sleep between its look at the generation and its claim, and then find
/// the tail as it was: its claim succeeds in the second life. Its event must not appear there. And
/// while it sleeps between its claim and its end, no second life may begin.
#[test]
fn a_push_of_an_earlier_life_is_refused() {
    Bound::exhaustive(1_090)
        .outcomes(
            "an event is delivered in the life that it was meant for, or handed back",
            || {
                let queue = Queue::<Arc<u32>, 2>::new();
                let producer = beside(&queue, |queue| fate(queue.push_in(0, Arc::new(1))));
                queue.close();
                let first = queue.drain().len();
                let reopened = queue.reopen();
                let second = queue.drain().len();
                let fate = producer.join().unwrap();
                let late = queue.drain().len();
                if reopened.is_ok() {
                    assert_eq!(second + late, 0, "an event of an earlier life");
                    assert_eq!(first == 1, fate == Fate::Accepted);
                } else {
                    assert_eq!(reopened, Err(ReopenError::Unfinished));
                    assert_eq!((first + second + late, fate), (1, Fate::Accepted));
                }
                assert!(queue.is_empty());
                (fate, reopened.is_ok(), first)
            },
        )
        .assert_exactly([
            (Fate::Accepted, true, 1),
            (Fate::Accepted, false, 0),
            (Fate::Closed, true, 0),
            (Fate::Stale, true, 0),
        ]);
}

/// The second life has begun; a producer of the first and one of the second push at once, with one
/// slot per block, while the consumer pops. The stale one may have cancelled a slot before
/// the other's: the consumer passes it, frees its block, and delivers what is behind it.
#[test]
fn a_cancelled_slot_holds_nothing_up() {
    Bound::preemptions(3, 10_000)
        .some_outcomes(
            "a slot that a stale push has cancelled is passed over, once",
            || {
                let queue = Queue::<Arc<u32>, 1>::new();
                let stale = beside(&queue, |queue| fate(queue.push_in(0, Arc::new(1))));
                queue.close();
                if queue.reopen().is_err() {
                    stale.join().unwrap();
                    return None;
                }
                let fresh = beside(&queue, |queue| queue.push_in(1, Arc::new(2)).unwrap());
                let early = queue.pop();
                let fate = stale.join().unwrap();
                fresh.join().unwrap();
                let events: Vec<_> = early.into_iter().chain(queue.drain()).collect();
                assert_eq!(events.iter().map(|event| **event).collect::<Vec<_>>(), [2]);
                assert!(queue.is_empty());
                Some(fate)
            },
        )
        .assert_exactly([Fate::Closed, Fate::Stale]);
}

/// A producer pushes for the generation that it has just read. Only a close refuses a push for the
/// present life; a producer that reads the second generation is heard in the second life.
#[test]
fn a_producer_reads_the_generation() {
    Bound::exhaustive(330)
        .outcomes(
            "a push for the generation that was read is accepted in it, or refused",
            || {
                let queue = Queue::<Arc<u32>, 1>::new();
                let producer = beside(&queue, |queue| {
                    let generation = queue.queue.generation();
                    let pushed = queue.push_in(generation, Arc::new(generation));
                    (generation, fate(pushed))
                });
                queue.close();
                let first = queue.drain();
                assert!(first.iter().all(|event| **event == 0));
                let reopened = queue.reopen().is_ok();
                let (generation, fate) = producer.join().unwrap();
                let late = queue.drain();
                if reopened {
                    assert!(late.iter().all(|event| **event == 1));
                }
                assert_eq!(
                    first.len() + late.len(),
                    usize::from(fate == Fate::Accepted)
                );
                (generation, fate, reopened)
            },
        )
        .assert_exactly([
            (0, Fate::Accepted, true),
            (0, Fate::Accepted, false),
            (0, Fate::Closed, true),
            (0, Fate::Stale, true),
            (1, Fate::Accepted, true),
            // The generation is released by the opening, and may be seen before it.
            (1, Fate::Closed, true),
        ]);
}

/// The consumer begins the second life, and tells of it by a word that carries no edge. A producer
/// that has read the word pushes for the second life, though it may see the queue as it was before:
/// closed, or with the number of the first life. It may be told "closed"; that the second life is
/// over would not be true. A failure: the push is stale.
#[test]
fn a_generation_that_was_learnt_without_an_edge_is_not_stale() {
    Bound::exhaustive(165)
        .outcomes("the present life is never said to be over", || {
            let queue = Queue::<Arc<u32>, 1>::new();
            let word = Arc::new(AtomicU32::new(0));
            let producer = beside_both(&queue, &word, move |queue, word| {
                // ORDERING: Relaxed: the claim is about a caller without an edge.
                let generation = word.load(Ordering::Relaxed);
                let event = Event(Arc::new(generation));
                let pushed = queue.queue.push_in(generation, event);
                (generation, fate(pushed))
            });
            queue.close();
            let first = queue.drain().len();
            if let Ok(generation) = queue.reopen() {
                // ORDERING: Relaxed: see the load.
                word.store(generation, Ordering::Relaxed);
            }
            let (generation, fate) = producer.join().unwrap();
            let late: Vec<_> = queue.drain().iter().map(|event| **event).collect();
            assert_eq!(first + late.len(), usize::from(fate == Fate::Accepted));
            assert!(late.iter().all(|event| *event == generation));
            (generation, fate)
        })
        .assert_exactly([
            (0, Fate::Accepted),
            (0, Fate::Closed),
            (0, Fate::Stale),
            (1, Fate::Accepted),
            (1, Fate::Closed),
        ]);
}

/// Between two lives the consumer gives the block back, as the process table does; the second life
/// gets a block at the same address, with as many slots left. A producer of the first life that
/// slept through all that finds the word as it was, and claims a slot of a block that it has never
/// seen. It cancels that slot: its event is in neither life, and the second one's is delivered.
#[test]
fn a_stale_push_finds_the_address_again() {
    Bound::preemptions(4, 400)
        .some_outcomes(
            "a push sleeps through a life whose block was freed, and harms nothing",
            || {
                let queue = Queue::<Arc<u32>, 2>::new();
                queue.push(Arc::new(0)).unwrap();
                let stale = beside(&queue, |queue| fate(queue.push_in(0, Arc::new(1))));
                queue.close();
                let first = queue.drain_numbers();
                let bare = queue.shrink();
                if queue.reopen().is_err() {
                    stale.join().unwrap();
                    return None;
                }
                assert!(bare, "the queue was empty, and closed");
                queue.push_in(1, Arc::new(2)).unwrap();
                let fate = stale.join().unwrap();
                assert_eq!(queue.drain_numbers(), [2]);
                assert!(queue.is_empty());
                Some((first, fate))
            },
        )
        .assert_exactly([
            (vec![0, 1], Fate::Accepted),
            (vec![0], Fate::Closed),
            (vec![0], Fate::Stale),
        ]);
}
