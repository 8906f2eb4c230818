//! Admission, its limit, and the last process to leave.

use std::num::NonZeroUsize;
use std::time::Instant;

use super::{Admission, NotAdmitted};

#[test]
fn the_limit_holds_and_a_leaver_makes_room() {
    let limit = NonZeroUsize::new(2).unwrap();
    let admission = Admission::new(Some(limit), 2);
    assert!(admission.enter(Some(0)).is_ok());
    assert!(admission.enter(None).is_ok());
    let refused = admission.enter(Some(1));
    assert!(matches!(refused, Err(NotAdmitted::LimitReached(at)) if at == limit));
    assert!(!admission.leave(Some(1)), "it is open");
    assert!(admission.enter(None).is_ok());
    assert_eq!(admission.live(), 2);
}

#[test]
fn a_process_may_leave_by_another_shard() {
    let admission = Admission::new(None, 2);
    for _ in 0..3 {
        assert!(admission.enter(None).is_ok());
        assert!(admission.enter(Some(0)).is_ok());
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
        assert!(admission.enter(Some(0)).is_ok());
        assert!(admission.enter(None).is_ok());
        assert!(!admission.close());
        assert!(matches!(admission.enter(None), Err(NotAdmitted::ShutDown)));
        assert!(matches!(
            admission.enter(Some(0)),
            Err(NotAdmitted::ShutDown)
        ));
        assert!(!admission.wait(Some(Instant::now())));
        assert!(!admission.leave(Some(0)));
        assert!(admission.leave(None));
        assert!(admission.wait(Some(Instant::now())));
    }
}

#[test]
fn closing_an_empty_one_needs_no_last_one() {
    assert!(Admission::new(None, 1).close());
}
