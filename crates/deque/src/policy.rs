//! When thieves can see an item.

/// When a [`Worker`](crate::Worker)'s items become visible to thieves: [`Strict`] or [`Lazy`].
///
/// It is sealed: the algorithm is argued for these two.
pub trait Policy: Rule {}

/// Every item is visible to thieves from its push to its pop. A pop costs one atomic
/// read-modify-write.
///
/// For a scheduler's run queue, where the next item may run for long, and no item may be hidden
/// behind it.
#[derive(Clone, Copy, Debug)]
pub enum Strict {}

/// The owner keeps most items private, and makes the older half of them public when thieves ask. A
/// push or a pop of a private item costs no atomic read-modify-write, no fence, and no write that a
/// thief could see.
///
/// For fork/join, where the owner returns to its deque within nanoseconds, and the oldest item is
/// the largest.
///
/// What is visible, and when:
///
/// - When the owner pushes a second item and knows that nothing is public, it makes the oldest item
///   public. So an owner that then runs a long leaf leaves one item in reach, unless it has only
///   one.
/// - A thief that finds nothing public, or takes the last public item, asks for more. At its next
///   push or pop the owner learns of it (as soon as the caches bring it) and makes the older half
///   of its private items public, rounded up.
/// - Private items stay private while the owner does something else, however long that takes: 16 at
///   most. [`flush`](crate::Worker::flush) makes all of them public: call it before blocking, and
///   before running something long.
#[derive(Clone, Copy, Debug)]
pub enum Lazy {}

/// The difference between the policies.
pub trait Rule {
    /// Whether an item may stay private until a thief asks for it.
    #[doc(hidden)]
    const KEEPS_PRIVATE: bool;
}

impl Rule for Strict {
    const KEEPS_PRIVATE: bool = false;
}

impl Rule for Lazy {
    const KEEPS_PRIVATE: bool = true;
}

impl Policy for Strict {}
impl Policy for Lazy {}
