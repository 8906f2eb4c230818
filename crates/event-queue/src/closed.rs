use core::error::Error;
use core::fmt;

/// The event of a refused push, handed back: the queue is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> Closed<T> {
    /// The event that was not pushed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

// By hand: an event that cannot be printed must not keep `unwrap` and `?` from its users.
impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the event queue is closed")
    }
}

impl<T> Error for Closed<T> {}
