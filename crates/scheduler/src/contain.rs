use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filch_processors::panic::discard;

/// Runs code that is not ours. A panic becomes its message.
///
/// What the closure was changing when it unwound belongs to the process or handler that panicked.
/// The process is closed and never stepped again; a handler takes `&self` and answers for itself.
pub(crate) fn contain<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(message_of)
}

/// What a panic said, which is all that is kept of it.
#[cold]
fn message_of(panic: Box<dyn Any + Send>) -> String {
    let message = panic_message(panic.as_ref());
    discard(panic);
    message
}

/// Drops what is not ours: destructors are user code too. What a panic in there says is lost, as
/// nobody waits for it.
pub(crate) fn dispose<T>(value: T) {
    let _ = contain(|| drop(value));
}

/// As [`dispose`], one by one: each panic costs one value, not the rest.
pub(crate) fn dispose_all<T>(values: impl IntoIterator<Item = T>) {
    values.into_iter().for_each(dispose);
}

/// What a panic said.
fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::contain;

    #[test]
    fn a_result_passes_through() {
        assert_eq!(contain(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(
            contain(|| panic!("literal")),
            Err::<(), _>("literal".to_owned())
        );
        assert_eq!(
            contain(|| panic!("with {}", 1)),
            Err::<(), _>("with 1".to_owned())
        );
        assert_eq!(
            contain(|| std::panic::panic_any(7)),
            Err::<(), _>("a panic without a message".to_owned())
        );
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert!(contain(|| std::panic::panic_any(Bomb)).is_err());
    }
}
