//! A deque that is always shared: a pusher and a thief that goes to sleep see each other.
//! [`Stealer::is_empty`] promises that to a sleeper.
//!
//! The thief announces itself, passes a fence and looks; the owner pushes, passes a fence and looks
//! for announcements. One of the two must see the other.

use filch_deque::{Stealer, Worker};
use filch_models::Bound;
use filch_sync::atomic::{AtomicBool, Ordering, fence};
use filch_sync::{Arc, thread};

use super::in_peace;

/// Two threads: an owner pushes and looks for sleepers; a thief looks a last time. A failure: the
/// owner sees none, and the thief nothing: the item waits, and its thief sleeps.
#[test]
fn a_sleeper_and_a_pusher_see_each_other() {
    Bound::exhaustive(700)
        .outcomes("shared: a push beside a sleeper", || {
            let _peace = in_peace();
            let worker = Worker::with_capacity(1);
            let asleep = Arc::new(AtomicBool::new(false));
            let sleeper = thread::spawn({
                let (asleep, stealer): (_, Stealer<u32>) = (Arc::clone(&asleep), worker.stealer());
                move || {
                    asleep.store(true, Ordering::Relaxed);
                    fence(Ordering::SeqCst);
                    !stealer.is_empty()
                }
            });
            worker.push(0);
            fence(Ordering::SeqCst);
            let seen = asleep.load(Ordering::Relaxed);
            let sees = sleeper.join().unwrap();
            assert_eq!(worker.pop(), Some(0));
            (seen, sees)
        })
        // Without the outcome in which neither sees the other.
        .assert_exactly([(true, false), (false, true), (true, true)]);
}
