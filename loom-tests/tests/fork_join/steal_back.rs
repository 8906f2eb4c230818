//! Steals from a thief's deque, by the owner of the job that it stole.

use filch_deque::Worker;
use filch_fork_join::protocol::{Awaited, Latch};
use filch_models::{Bound, Crossing};
use filch_sync::{Arc, thread};

/// Three threads: a thief's deque has an item from before it began the stolen job, and two from
/// after. The job's owner takes twice, but only of the latter; somebody else takes the oldest item,
/// whatever it is; and the thief pops. The owner gets something only when the oldest one is gone. A
/// failure: the owner has the older item, two have the same one, or nobody has it.
#[test]
fn an_owner_leaves_what_is_older_than_its_job() {
    Bound::preemptions(2, 1_800)
        .outcomes("steal back: nothing from before the job", || {
            let deque = Worker::with_capacity(4);
            deque.push(0);
            let base = deque.position() as u32;
            deque.push(1);
            deque.push(2);
            let crossing = Crossing::new();
            let owner = thread::spawn({
                let (stealer, crossing) = (deque.stealer(), crossing.clone());
                move || {
                    crossing.pass();
                    let is_younger = |index: u32| index.wrapping_sub(base) as i32 >= 0;
                    let attempts = (0..2).filter_map(|_| stealer.steal_if(is_younger).success());
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
        })
        .assert_reached([vec![], vec![1]]);
}

/// Two threads: a thief forks in the job that it has stolen, takes that back, ends the job, and
/// forks in another one, at the same place of its deque. The owner of the first takes what lies
/// there as long as the job runs. A failure: it has the other job's fork.
#[test]
fn an_owner_leaves_what_is_younger_than_its_job() {
    Bound::preemptions(2, 83)
        .outcomes("steal back: nothing from after the job", || {
            let deque = Worker::with_capacity(4);
            let base = deque.position() as u32;
            let latch = Arc::new(Latch::holding(0));
            let owner = thread::spawn({
                let (stealer, latch) = (deque.stealer(), Arc::clone(&latch));
                move || {
                    stealer
                        .steal_if(|index| index == base && !latch.is_done())
                        .success()
                }
            });
            deque.push("part of the job");
            deque.pop();
            assert!(!latch.finish(), "the owner does not sleep");
            deque.push("part of another job");
            let back = owner.join().unwrap();
            assert_ne!(back, Some("part of another job"));
            back
        })
        .assert_exactly([None, Some("part of the job")]);
}
