//! Two threads, one of which learns that the other has done something.

use filch_sync::Arc;
use filch_sync::atomic::{AtomicBool, Ordering};
use filch_sync::thread::{self, JoinHandle};

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
