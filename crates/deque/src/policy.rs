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
/// the largest. An owner that goes to and fro between none and one item is better off with
/// [`Strict`]: the first item is public.
///
/// What is visible, and when:
///
/// - An owner that pushes, and knows that nothing is public, makes the older half of its items
///   public: the item, if it is the only one. So one that then runs a long leaf leaves one in
///   reach.
/// - A thief that takes the last public item asks for more. At its next push or pop the owner
///   learns of it (as soon as the caches bring it) and makes the older half of its private items
///   public, rounded up.
/// - Private items stay private while the owner does something else, however long that takes: 16 at
///   most. When they would be more, all but the newest 6 become public.
///   [`flush`](crate::Worker::flush) makes all of them public: call it before blocking, and before
///   running something long.
#[derive(Clone, Copy, Debug)]
pub enum Lazy {}

/// The most items that a lazy owner keeps private between its calls, unless it is told less. So
/// many are out of reach at most while it is in a long leaf.
pub(crate) const MAX_PRIVATE: u8 = 16;

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
