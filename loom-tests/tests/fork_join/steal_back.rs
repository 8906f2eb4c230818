//! What the owner of a stolen job takes from the deque of its thief.

use filch_deque::Worker;
use filch_sync::thread;
use loom_tests::{Bound, Crossing, Outcomes};

/// Three threads: a thief's deque has an item from before it began the stolen job, and two from
/// after. The job's owner takes twice, but only of the latter; somebody else takes the oldest item,
/// whatever it is; and the thief pops. The owner gets something only when the oldest one is gone. A
/// failure: the owner has the older item, two have the same one, or nobody has it.
#[test]
fn an_owner_leaves_what_is_older_than_its_job() {
    Outcomes::of(
        "steal back: nothing from before the job",
        Bound::preemptions(2, 5_000),
        || {
            let deque = Worker::lazy(4);
            deque.push(0);
            let base = deque.position() as u32;
            deque.push(1);
            deque.push(2);
            deque.flush();
            let crossing = Crossing::new();
            let owner = thread::spawn({
                let (stealer, crossing) = (deque.stealer(), crossing.clone());
                move || {
                    crossing.pass();
                    let attempts = (0..2).filter_map(|_| stealer.steal_from(base).success());
                    attempts.collect::<Vec<_>>()
                }
            });
            let other = thread::spawn({
                let (stealer, crossing) = (deque.stealer(), crossing.clone());
                move || {
                    crossing.pass();
                    stealer.steal().success()
                }
            });
            crossing.pass();
            let mut all = Vec::from_iter(deque.pop());
            let back = owner.join().unwrap();
            all.extend(other.join().unwrap());
            all.extend(&back);
            all.extend(std::iter::from_fn(|| deque.pop()));
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
            assert!(!back.contains(&0), "from before the job");
            back
        },
    )
    .assert_reached([vec![], vec![1]]);
}
