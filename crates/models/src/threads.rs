//! The threads of a model.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::thread::{self, JoinHandle};

/// Starts a thread that does something with what it shares with the others.
pub fn beside<S: 'static, R: 'static>(
    shared: &Arc<S>,
    does: impl FnOnce(&S) -> R + 'static,
) -> JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || does(&shared))
}

/// Starts a thread that does something with clones of two things.
pub fn beside_both<A: Clone + 'static, B: Clone + 'static, R: 'static>(
    one: &A,
    other: &B,
    does: impl FnOnce(A, B) -> R + 'static,
) -> JoinHandle<R> {
    let (one, other) = (one.clone(), other.clone());
    thread::spawn(move || does(one, other))
}

/// Starts a thread that does `first` with `shared` and then says so, and one that does `second` if
/// it has heard that. The second thread returns whether it has.
///
/// For claims about order: `first` is known to be done before `second` begins.
pub fn tell<S: Clone + 'static>(
    shared: &S,
    first: fn(&S),
    second: fn(&S),
) -> (JoinHandle<()>, JoinHandle<bool>) {
    let said = Arc::new(AtomicBool::new(false));
    let teller = thread::spawn({
        let (shared, said) = (shared.clone(), said.clone());
        move || {
            first(&shared);
            // ORDERING: Release: pairs with the load below; the history says that `first` was
            // before.
            said.store(true, Ordering::Release);
        }
    });
    let told = thread::spawn({
        let shared = shared.clone();
        move || {
            // ORDERING: Acquire: pairs with the store above.
            let has_heard = said.load(Ordering::Acquire);
            if has_heard {
                second(&shared);
            }
            has_heard
        }
    });
    (teller, told)
}
