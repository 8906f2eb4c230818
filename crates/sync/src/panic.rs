//! Contains panics of the user's code: they end where filch called it.
//!
//! It has nothing to do with std or loom; it is here because every crate that calls user code needs
//! it, and all of them depend on this one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the user's code. If it panics, the panic ends here and becomes its message.
///
/// The closure may leave its data half changed. The caller says why nobody looks at that data
/// again, or why it does no harm.
///
/// # Errors
/// The message of the panic.
pub fn catch_panic<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(message_of)
}

/// Drops a user's value. Its destructor is the user's code, too; if that panics, the panic ends
/// here, and its message is lost.
pub fn drop_contained<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        discard(payload);
    }
}

/// Drops each value as [`drop_contained`] does: a panic ends the drop of one value, and the others
/// are still dropped.
pub fn drop_all_contained<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(drop_contained);
}

/// Drops the payload of a panic. Its destructor may panic again, with another payload. The fifth
/// payload in a row is leaked, so that no panic reaches the caller.
pub fn discard(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MAX_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

/// The payloads that [`discard`] drops before it leaks one.
const MAX_PAYLOADS: usize = 4;

/// Returns the message of a panic, and drops its payload.
#[cold]
fn message_of(panic: Box<dyn Any + Send>) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    discard(panic);
    message
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::panic_any;

    use super::{MAX_PAYLOADS, catch_panic, discard, drop_all_contained, drop_contained};

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("its payload drops quietly");
        }
    }

    thread_local! {
        static DROPS: Cell<usize> = const { Cell::new(0) };
    }

    struct EndlessBomb;

    impl Drop for EndlessBomb {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
            panic_any(EndlessBomb);
        }
    }

    #[test]
    fn a_result_passes_through() {
        assert_eq!(catch_panic(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(
            catch_panic(|| panic!("literal")),
            Err::<(), _>("literal".to_owned())
        );
        assert_eq!(
            catch_panic(|| panic!("with {}", 1)),
            Err::<(), _>("with 1".to_owned())
        );
        assert_eq!(
            catch_panic(|| panic_any(7)),
            Err::<(), _>("a panic without a message".to_owned())
        );
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        assert!(catch_panic(|| panic_any(Bomb)).is_err());
        discard(Box::new(Bomb));
        drop_contained(Bomb);
    }

    #[test]
    fn a_payload_that_always_panics_is_leaked_in_the_end() {
        discard(Box::new(EndlessBomb));
        assert_eq!(DROPS.get(), MAX_PAYLOADS);
    }

    #[test]
    fn a_destructor_that_panics_does_not_keep_the_others_from_running() {
        struct Counted<'a>(&'a Cell<u32>);

        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
                panic_any("wanted by the test");
            }
        }

        let dropped = Cell::new(0);
        drop_all_contained([Counted(&dropped), Counted(&dropped), Counted(&dropped)]);
        assert_eq!(dropped.get(), 3);
    }
}
