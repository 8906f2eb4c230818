//! A deque that may be biased: a pusher and thieves that go to sleep see each other, and none of
//! them passes a fence for it if the deque is shared.
//!
//! A thief announces itself, asks, insists where it has no answer, and looks. The owner pushes, and
//! looks for announcements where that is due. Items are not taken unless a model says so; then a
//! thief that has seen nothing and an owner that has not seen it would leave it asleep beside an
//! item: that is how each of these fails.

use filch_deque::{Request, Stealer, Worker};
use filch_models::Bound;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::{Arc, thread};

use super::{assert_each_once, biased, drain, in_peace, insist, refused, rest, steal_surely};

/// The outcomes without the one in which neither sees the other: whether the owner sees the thief,
/// and the thief what was pushed.
const EITHER_OR_BOTH: [(bool, bool); 3] = [(true, false), (false, true), (true, true)];

/// A thief on its way to sleep. Its thread says whether it has seen anything.
struct Sleeper {
    asleep: Arc<AtomicBool>,
    thread: thread::JoinHandle<bool>,
}

impl Sleeper {
    fn new(worker: &Worker<u32>) -> Self {
        let asleep = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (asleep, stealer) = (Arc::clone(&asleep), worker.stealer());
            move || {
                // ORDERING: Relaxed: the deque orders it.
                asleep.store(true, Ordering::Relaxed);
                look(&stealer)
            }
        });
        Self { asleep, thread }
    }

    /// The owner's look, if it is due.
    fn is_seen_by(&self, worker: &Worker<u32>) -> bool {
        worker.was_asked() && self.is_asleep()
    }

    fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }

    fn sees(self) -> bool {
        self.thread.join().unwrap()
    }
}

/// Returns whether there is anything, for a thief that has said that it sleeps: it gives the owner
/// a moment to answer, and insists then.
fn look(stealer: &Stealer<u32>) -> bool {
    if let Some(request) = stealer.ask()
        && request.is_pending()
    {
        Request::revoke_all(&[request]).unwrap();
    }
    !stealer.is_empty()
}

/// A deque that has always been shared, which may be biased.
fn shared() -> Worker<u32> {
    Worker::biased(4)
}

/// The owner's part beside one sleeper. It asks by the closure whether it sees the sleeper.
type Part = fn(&Worker<u32>, &dyn Fn() -> bool) -> bool;

/// Two threads: the owner does its part, the last of which is a push, beside one sleeper.
fn handshake(claim: &str, bound: Bound, deque: fn() -> Worker<u32>, part: Part) {
    bound
        .outcomes(claim, move || meet(&deque(), part))
        .assert_exactly(EITHER_OR_BOTH);
}

fn meet(worker: &Worker<u32>, part: Part) -> (bool, bool) {
    let sleeper = Sleeper::new(worker);
    let seen = part(worker, &|| sleeper.is_seen_by(worker));
    assert!(!worker.is_empty());
    (seen, sleeper.sees())
}

/// Two threads: a push the short way, or the long one, if the thief comes first.
#[test]
fn a_push_into_a_biased_deque() {
    handshake(
        "biased: a push beside a sleeper",
        Bound::exhaustive(270),
        || biased(4),
        |worker, sees| {
            worker.push(0);
            sees()
        },
    );
}

/// Two threads: the deque is shared, so the thief's look is all that it does, and the owner's
/// answer all that the push does more.
#[test]
fn a_push_into_a_shared_deque() {
    Bound::exhaustive(140)
        .outcomes("shared: a push beside a sleeper, without fences", || {
            let _peace = in_peace();
            meet(&shared(), |worker, sees| {
                worker.push(0);
                sees()
            })
        })
        .assert_exactly(EITHER_OR_BOTH);
}

/// Two threads: where the system refuses heavy fences, the owner never takes the deque back, and
/// neither thread needs a fence.
#[test]
fn pushes_where_heavy_fences_are_refused() {
    Bound::exhaustive(2_400)
        .outcomes("refused: push, pop and push beside a sleeper", || {
            let _fences = refused();
            meet(&shared(), |worker, sees| {
                worker.push(0);
                let first = sees();
                assert_eq!(worker.pop(), Some(0));
                worker.push(1);
                sees() || first
            })
        })
        .assert_exactly(EITHER_OR_BOTH);
}

/// Two threads: the ring grows at the second of two pushes.
#[test]
fn two_pushes_and_growth() {
    handshake(
        "biased: two pushes and growth beside a sleeper",
        Bound::preemptions(3, 2_500),
        || biased(1),
        |worker, sees| {
            worker.push(0);
            let first = sees();
            worker.push(1);
            sees() || first
        },
    );
}

/// Two threads: the owner pops the last item of a shared deque, and would take the deque back; the
/// thief asks around that, and finds nothing. The next push must not go the short way unseen.
#[test]
fn asked_while_the_owner_takes_the_deque_back() {
    handshake(
        "shared: push, pop and push beside a sleeper",
        Bound::exhaustive(7_800),
        shared,
        |worker, sees| {
            worker.push(0);
            let first = sees();
            assert_eq!(worker.pop(), Some(0));
            worker.push(1);
            sees() || first
        },
    );
}

/// Two threads: the owner answers the thief by its first push, pops the item, takes the deque back,
/// and looks for sleepers only then, when there is nothing to tell. It pushes again, the short way.
#[test]
fn an_owner_that_looks_late() {
    handshake(
        "shared: a look for sleepers when the item is gone",
        Bound::exhaustive(13_000),
        shared,
        |worker, sees| {
            worker.push(0);
            assert_eq!(worker.pop(), Some(0));
            let late = sees();
            worker.push(1);
            sees() || late
        },
    );
}

/// Two threads: a pop answers the thief, which has nothing to see yet or nothing any more, and the
/// next pop takes the deque back. The owner looks for sleepers after each push, and at a moment at
/// which there is nothing.
#[test]
fn a_pop_answers_and_the_next_takes_back() {
    handshake(
        "biased: two pushes, two pops and a push beside a sleeper",
        Bound::preemptions(4, 36_000),
        || biased(4),
        |worker, sees| {
            let mut seen = false;
            for item in 0..2 {
                worker.push(item);
                seen |= sees();
            }
            assert_eq!((worker.pop(), worker.pop()), (Some(1), Some(0)));
            seen |= sees();
            worker.push(2);
            seen | sees()
        },
    );
}

/// Two threads: an owner with one item shares it before it sleeps itself.
#[test]
fn an_owner_that_shares() {
    handshake(
        "biased: an owner shares beside a sleeper",
        Bound::exhaustive(8_500),
        || biased(4),
        |worker, sees| {
            worker.push(0);
            let first = sees();
            worker.share();
            sees() || first
        },
    );
}

/// Two threads: the owner steals a batch into its deque, which becomes more than it was asked for.
#[test]
fn a_stolen_batch_beside_a_sleeper() {
    handshake(
        "biased: a stolen batch beside a sleeper",
        Bound::exhaustive(270),
        || biased(4),
        |worker, sees| {
            let victim: Worker<u32> = Worker::with_capacity(4);
            victim.push_batch(0..4);
            assert!(victim.stealer().steal_half_into(worker, 4).is_success());
            sees()
        },
    );
}

/// Two sleepers beside `pushes`: who sees whom.
fn meet_two(worker: &Worker<u32>, pushes: u32) -> Meeting {
    let sleepers = [(); 2].map(|()| Sleeper::new(worker));
    let mut seen = [false; 2];
    for item in 0..pushes {
        worker.push(item);
        if worker.was_asked() {
            for (seen, sleeper) in seen.iter_mut().zip(&sleepers) {
                *seen |= sleeper.is_asleep();
            }
        }
    }
    let sees = sleepers.map(Sleeper::sees);
    for (seen, sees) in seen.into_iter().zip(sees) {
        assert!(seen || sees, "asleep beside an item");
    }
    (seen, sees)
}

/// Which of two sleepers the owner has seen, and which have seen what it pushed.
type Meeting = ([bool; 2], [bool; 2]);

const MEETINGS: [Meeting; 4] = [
    ([true, true], [false, false]),
    ([false, false], [true, true]),
    ([true, false], [false, true]),
    ([false, true], [true, false]),
];

/// Three threads: two thieves go to sleep beside a push; the second may come by the first's fence.
#[test]
fn two_sleepers_and_a_push() {
    Bound::preemptions(3, 14_000)
        .outcomes("biased: a push beside two sleepers", || {
            meet_two(&biased(4), 1)
        })
        .assert_reached(MEETINGS);
}

/// Three threads: the same where no fence is due.
#[test]
fn two_sleepers_and_a_push_into_a_shared_deque() {
    Bound::preemptions(3, 2_400)
        .outcomes("shared: a push beside two sleepers", || {
            let _peace = in_peace();
            meet_two(&shared(), 1)
        })
        .assert_reached(MEETINGS);
}

/// Three threads: the first of two pushes may answer one thief, and the second the other.
#[test]
fn two_sleepers_and_two_pushes() {
    Bound::preemptions(2, 3_300)
        .outcomes("biased: two pushes beside two sleepers", || {
            meet_two(&biased(4), 2)
        })
        .assert_reached(MEETINGS);
}

/// Two threads: one thief sleeps already, and has asked. Another one insists in the owner's place,
/// has enough with one item, and tells nobody. The owner pushes two. A failure: the request that
/// the sleeper made has been forgotten with the other's, and the second item waits beside it.
#[test]
fn a_sleeper_is_told_although_another_thief_has_revoked() {
    Bound::preemptions(4, 350)
        .outcomes(
            "biased: a sleeper, a thief that insists, two pushes",
            || {
                let worker = biased(4);
                assert!(!look(&worker.stealer()), "one sleeps from here on");
                let stealer = worker.stealer();
                let thief = thread::spawn(move || {
                    insist(&stealer);
                    steal_surely(&stealer).success()
                });
                let mut is_told = false;
                for item in 0..2 {
                    worker.push(item);
                    is_told |= worker.was_asked();
                }
                let stolen: Vec<_> = thief.join().unwrap().into_iter().collect();
                assert!(is_told, "sleeps beside the second");
                assert_each_once(2, &[&stolen, &rest(&worker)]);
                stolen
            },
        )
        .assert_exactly([vec![], vec![0]]);
}

/// Three threads: a thief goes to sleep beside another one that only asks, takes what it is given,
/// and comes no more. The owner pushes two items. A failure: the other one's answer was the last
/// that the owner gave, and the sleeper was not in it.
#[test]
fn a_sleeper_is_told_although_another_thief_was_answered() {
    Bound::preemptions(2, 7_100)
        .outcomes("biased: a sleeper, a thief that asks, two pushes", || {
            let worker = biased(4);
            let sleeper = Sleeper::new(&worker);
            let thief = super::thief(worker.stealer(), 2);
            let mut seen = false;
            for item in 0..2 {
                worker.push(item);
                seen |= sleeper.is_seen_by(&worker);
            }
            let sees = sleeper.sees();
            let stolen = thief.join().unwrap();
            let left = drain(&worker);
            assert_each_once(2, &[&stolen, &left]);
            assert!(seen || sees || left.is_empty(), "asleep beside an item");
            (stolen.len(), seen, sees)
        })
        .assert_reached([
            (0, true, false),
            (0, false, true),
            (1, true, false),
            (1, false, true),
        ]);
}
