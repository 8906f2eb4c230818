//! Running code of the user's, whose panics must go no further.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `code`, and turns a panic into its message.
///
/// What the closure was changing when it unwound belongs to the code that panicked: the caller must
/// not use it again, except to drop it.
///
/// # Errors
/// The message of the panic.
pub fn catch_panic<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(message_of)
}

/// Drops a value whose destructor may panic. The message of such a panic is lost.
pub fn drop_contained<T>(value: T) {
    let _ = catch_panic(|| drop(value));
}

/// As [`drop_contained`], one by one: each panic costs one value, not the rest.
pub fn drop_all_contained<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(drop_contained);
}

#[cold]
fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    discard(payload);
    message
}

/// Drops the payload of a panic. That may panic in turn, with another payload; after a few of those
/// the last one is leaked.
fn discard(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MAX_ATTEMPTS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
}

const MAX_ATTEMPTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::catch_panic;

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
            catch_panic(|| std::panic::panic_any(7)),
            Err::<(), _>("a panic without a message".to_owned())
        );
    }

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }

    struct EndlessBomb;

    impl Drop for EndlessBomb {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        assert!(catch_panic(|| std::panic::panic_any(Bomb)).is_err());
        assert!(catch_panic(|| std::panic::panic_any(EndlessBomb)).is_err());
    }
}
