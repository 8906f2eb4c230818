/// When a [`Worker`](crate::Worker)'s items become visible to thieves: [`Strict`] or [`Lazy`].
///
/// Sealed: nobody else can implement it.
pub trait Policy: Rule {}

/// Every item is visible to thieves from its push to its pop. A pop costs one atomic
/// read-modify-write.
///
/// For a scheduler's run queue, where what a worker runs next may take long, and nothing may wait
/// behind it unseen.
#[derive(Clone, Copy, Debug)]
pub enum Strict {}

/// The owner keeps most items to itself, and gives the oldest half of them to thieves that ask. A
/// push or a pop of what is its own costs no atomic read-modify-write, no fence, and no write that
/// a thief could see.
///
/// For fork/join, where the owner comes back to its deque within nanoseconds, and the oldest item
/// is the largest.
///
/// What is visible, and when:
///
/// - Whenever the owner has pushed a second item and knows that nothing is public, it makes the
///   oldest public. So a worker that goes off into a long leaf leaves one item in reach, unless it
///   has one in all.
/// - A thief that finds nothing public, or takes the last public item, raises a flag: it is
///   *hungry*. At its next push or pop the owner sees the flag (as soon as the caches bring it) and
///   makes the older half of its private items public, one of one included.
/// - What is private stays so while the owner does something else, however long that takes.
///   [`flush`](crate::Worker::flush) makes all of it public: call it before blocking, and before
///   running something long.
#[derive(Clone, Copy, Debug)]
pub enum Lazy {}

/// The difference between the policies.
pub trait Rule {
    /// Whether what was pushed may stay private until a thief asks for it.
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
