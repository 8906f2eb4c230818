//! The answer of a thief's attempt.

/// The outcome of an attempt to steal. There is no fourth one, so match all three.
///
/// "Nothing there" and "lost the race" are different answers: a thief may go to sleep on the first
/// (after the handshake that its scheduler needs), never on the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Steal<T> {
    /// There was no item in reach at some moment of the call, as far as the calling thread could
    /// know. A [biased](crate::Worker::biased) deque has none in reach; its owner was asked, and
    /// [`ask`](crate::Stealer::ask) tells how to insist.
    Empty,
    /// The owner or another thief came first, or the owner is replacing its ring. Another attempt
    /// may succeed.
    Retry,
    /// The item, which is the caller's.
    Success(T),
}

impl<T> Steal<T> {
    /// Returns whether it is [`Empty`](Self::Empty).
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Returns whether it is [`Success`](Self::Success).
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Success(_))
    }

    /// The item, if there is one.
    pub fn success(self) -> Option<T> {
        match self {
            Self::Success(item) => Some(item),
            Self::Empty | Self::Retry => None,
        }
    }

    /// Returns this answer with `f` applied to the item.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Steal<U> {
        match self {
            Self::Success(item) => Steal::Success(f(item)),
            Self::Retry => Steal::Retry,
            Self::Empty => Steal::Empty,
        }
    }
}

/// Tries several victims. The first success ends the attempts; without one, the answer is
/// [`Steal::Retry`] if any attempt lost a race, and [`Steal::Empty`] if none did.
///
/// ```
/// use filch_deque::{Steal, Worker};
///
/// let workers = [Worker::new(), Worker::new(), Worker::new()];
/// workers[2].push('x');
/// let stealers = workers.each_ref().map(Worker::stealer);
/// let stolen: Steal<char> = stealers.iter().map(|stealer| stealer.steal()).collect();
/// assert_eq!(stolen, Steal::Success('x'));
/// ```
impl<T> FromIterator<Steal<T>> for Steal<T> {
    fn from_iter<I: IntoIterator<Item = Self>>(attempts: I) -> Self {
        let mut lost = false;
        for attempt in attempts {
            match attempt {
                Self::Success(_) => return attempt,
                Self::Retry => lost = true,
                Self::Empty => {}
            }
        }
        if lost { Self::Retry } else { Self::Empty }
    }
}

#[cfg(test)]
mod tests {
    use super::Steal::{self, Empty, Retry, Success};

    #[test]
    fn the_first_success_ends_the_search() {
        let mut asked = 0;
        let found: Steal<i32> = [Empty, Retry, Success(1), Success(2)]
            .into_iter()
            .inspect(|_| asked += 1)
            .collect();
        assert_eq!((found, asked), (Success(1), 3));
    }

    #[test]
    fn a_lost_race_is_not_emptiness() {
        assert_eq!(
            [Empty, Retry, Empty].into_iter().collect::<Steal<()>>(),
            Retry
        );
        assert_eq!([Empty, Empty].into_iter().collect::<Steal<()>>(), Empty);
        assert_eq!(core::iter::empty().collect::<Steal<()>>(), Empty);
    }

    #[test]
    fn questions() {
        assert!(Empty::<()>.is_empty() && Success(()).is_success());
        assert!(!Retry::<()>.is_empty() && !Retry::<()>.is_success());
        assert_eq!(
            (Success(1).success(), Retry::<i32>.success()),
            (Some(1), None)
        );
    }
}
