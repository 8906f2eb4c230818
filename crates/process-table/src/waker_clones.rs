//! How many clones of a future's waker there are.

use filch_sync::atomic::{Ordering, fence};

/// Turns the number of references to what a future's wakers share into the number of the waker's
/// clones: of these references `own` are the caller's, the one that runs the future, and one may be
/// the handle's, which is dropped at any time.
///
/// At most one too many, while the handle is dropped; never too few. What another thread did before
/// it let go of a reference that is not counted any more happens before this returns: if it was a
/// wake-up, the caller finds the future woken. Wait-free.
///
/// References are counted elsewhere, as an `Arc` does it: a thread that lets go of one counts with
/// Release. `references` reads the count, and `in_handle` whether the handle is still to take the
/// output: it says so first, and also with Release, when it goes. Relaxed loads will do for both.
pub fn waker_clones(
    own: usize,
    references: impl FnOnce() -> usize,
    in_handle: impl FnOnce() -> bool,
) -> usize {
    let others = references() - own;
    // ORDERING: Acquire, partner of the Release with which references are counted down. For the
    // handle's: if it is not counted any more, `in_handle` does not see it. (A fence, as an `Arc`
    // reads its count by a Relaxed load.)
    fence(Ordering::Acquire);
    others.saturating_sub(usize::from(in_handle()))
}
