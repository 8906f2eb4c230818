//! Room, and senders that wait for it, without a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use filch_scheduler::MailboxPolicy;
use filch_sync::lock;

use super::{Counted, ONE, WhenFull};
use crate::tests::Any;

fn counted(limit: usize) -> Counted<Any> {
    Counted::new(limit, WhenFull::Refuse)
}

#[test]
fn a_delivered_message_makes_room() {
    let mailbox = counted(2);
    for _ in 0..3 {
        assert_eq!([(); 3].map(|()| mailbox.reserve()), [true, true, false]);
        mailbox.delivered(2);
        assert_eq!(mailbox.undelivered(), 0);
    }
}

/// The highest limit that there is.
#[test]
fn no_limit_is_too_high() {
    for limit in [usize::MAX / ONE, usize::MAX] {
        let mailbox = counted(limit);
        // ORDERING: Relaxed: one thread.
        mailbox
            .word
            .store((mailbox.limit - 1) * ONE, Ordering::Relaxed);
        assert_eq!([mailbox.reserve(), mailbox.reserve()], [true, false]);
    }
}

#[test]
fn one_sender_ends_the_process() {
    let mailbox = counted(0);
    assert!(mailbox.is_first_failure());
    assert!(!mailbox.is_first_failure());
    assert!(!mailbox.reserve());
}

#[test]
fn what_exceeds_the_limit_is_counted_until_it_is_delivered() {
    let (mailbox, told) = (counted(1), Arc::new(AtomicUsize::new(0)));
    assert!(mailbox.reserve());
    for number in 0..2 {
        let told = Arc::clone(&told);
        let tell = Box::new(move |sent: Result<(), _>| {
            assert!(sent.is_ok());
            // ORDERING: Relaxed, here and below: one thread.
            told.fetch_add(1, Ordering::Relaxed);
        });
        mailbox.exceed(&mut lock(&mailbox.blocked), number, tell);
    }
    let told = || told.load(Ordering::Relaxed);
    assert_eq!((mailbox.undelivered(), told()), (3, 0));
    assert_eq!((mailbox.fetch(), mailbox.fetch()), ([0].into(), [1].into()));
    mailbox.delivered(1);
    assert_eq!(
        (told(), mailbox.reserve()),
        (1, false),
        "the first has room"
    );
    mailbox.delivered(1);
    assert_eq!((told(), mailbox.reserve()), (2, false));
    mailbox.delivered(1);
    assert!(mailbox.reserve());
}
