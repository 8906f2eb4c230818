//! What a thread calls of the pool's user.

use std::num::NonZeroU64;

use crate::protocol::state::binding::BoundId;

/// The methods of a [`Runner`](crate::Runner) that a thread needs, with the pool filled in: the
/// threads know nothing of what is above them.
pub(crate) trait Hooks<T> {
    type Scratch;

    fn scratch(&self, thread: usize) -> Self::Scratch;
    fn bound_to(&self, task: &T) -> Option<BoundId>;
    fn label(&self, task: &T) -> Option<NonZeroU64>;
    fn on_processor(&self, processor: usize, scratch: &mut Self::Scratch);
    fn run(&self, task: T, scratch: &mut Self::Scratch);
}
