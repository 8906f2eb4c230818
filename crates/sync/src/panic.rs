//! Panics in code that is the user's: they end where filch called it.
//!
//! Not a matter of std or loom, but every crate that calls its users needs it.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code that is not ours. A panic becomes its message.
///
/// What the closure was changing when it unwound may be half changed. The caller says why nobody
/// looks at it again, or why that does no harm.
///
/// # Errors
/// What the panic said.
pub fn catch_panic<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(message_of)
}

/// Drops what is not ours: destructors are user code too. The message of a panic in there is lost,
/// as nobody waits for it.
pub fn drop_contained<T>(value: T) {
    let _ = catch_panic(|| drop(value));
}

/// As [`drop_contained`], one by one: each panic costs one value, not the rest.
pub fn drop_all_contained<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(drop_contained);
}

/// Drops what a panic carried. That is code of the one who panicked, and may panic again, with
/// another payload; after four of those the last one is leaked rather than let loose on the caller.
pub fn discard(mut payload: Box<dyn Any + Send>) {
    const MAX_PAYLOADS: usize = 4;
    for _ in 0..MAX_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    core::mem::forget(payload);
}

/// What a panic said, which is all that is kept of it.
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
    use std::borrow::ToOwned;
    use std::boxed::Box;
    use std::panic::panic_any;

    use super::{catch_panic, discard, drop_contained};

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("its payload drops quietly");
        }
    }

    struct EndlessBomb;

    impl Drop for EndlessBomb {
        fn drop(&mut self) {
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
    fn one_that_always_panics_is_leaked_in_the_end() {
        discard(Box::new(EndlessBomb));
    }
}
