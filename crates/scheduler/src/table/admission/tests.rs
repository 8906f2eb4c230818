//! Who is admitted, and who is the last one out.

use super::{Admission, Refusal};
use std::num::NonZeroUsize;
use std::time::Duration;

#[test]
fn the_limit_holds_and_a_leaver_makes_room() {
    let limit = NonZeroUsize::new(2).unwrap();
    let admission = Admission::new(Some(limit), 2);
    assert_eq!(admission.enter(Some(0)), Ok(()));
    assert_eq!(admission.enter(None), Ok(()));
    assert_eq!(admission.enter(Some(1)), Err(Refusal::Full(limit)));
    assert!(!admission.leave(Some(1)), "it is open");
    assert_eq!(admission.enter(None), Ok(()));
    assert_eq!(admission.live(), 2);
}

#[test]
fn a_process_may_leave_by_another_shard() {
    let admission = Admission::new(None, 2);
    for _ in 0..3 {
        assert_eq!(admission.enter(None), Ok(()));
        assert_eq!(admission.enter(Some(0)), Ok(()));
        assert!(!admission.leave(Some(1)));
    }
    assert_eq!(admission.live(), 3);
    assert!(!admission.close());
    assert!(!admission.leave(None));
    assert!(!admission.leave(Some(1)));
    assert!(admission.leave(Some(0)));
    assert_eq!(admission.live(), 0);
}

#[test]
fn the_last_one_out_is_told_so() {
    for limit in [None, Some(NonZeroUsize::MAX)] {
        let admission = Admission::new(limit, 1);
        assert_eq!(admission.enter(Some(0)), Ok(()));
        assert_eq!(admission.enter(None), Ok(()));
        assert!(!admission.close());
        assert_eq!(admission.enter(None), Err(Refusal::Closed));
        assert_eq!(admission.enter(Some(0)), Err(Refusal::Closed));
        assert!(!admission.wait(Duration::ZERO));
        assert!(!admission.leave(Some(0)));
        assert!(admission.leave(None));
        assert!(admission.wait(Duration::ZERO));
    }
}

#[test]
fn closing_an_empty_one_needs_no_last_one() {
    assert!(Admission::new(None, 1).close());
}
