//! The messages that are kept, and the process's announcements.

use filch_scheduler::MailboxPolicy;

use super::{DropOldestMailbox, Kept};
use crate::tests::Any;

#[test]
fn the_latest_are_kept_and_the_first_is_told() {
    let latest = DropOldestMailbox::<Any>::new(2);
    let mut kept = Vec::new();
    for number in 0..4 {
        let Kept {
            is_first,
            has_dropped,
        } = latest.keep(number, || false).ok().unwrap();
        kept.push((is_first, has_dropped));
    }
    assert_eq!(
        kept,
        [(true, false), (false, false), (false, true), (false, true)]
    );
    assert_eq!(latest.undelivered(), 2);
    assert_eq!(latest.fetch(), [2, 3]);
    assert_eq!(latest.keep(4, || true).err(), Some(4));
    assert!(latest.keep(5, || false).ok().unwrap().is_first);
}

#[test]
fn where_none_may_be_kept_none_is_told() {
    let latest = DropOldestMailbox::<Any>::new(0);
    for number in 0..2 {
        let kept = latest.keep(number, || false).ok().unwrap();
        assert!(!kept.is_first && kept.has_dropped);
    }
    assert!(latest.fetch().is_empty());
}
