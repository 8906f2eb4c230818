//! Filling a deque from an iterator.

use crate::policy::Policy;
use crate::worker::Worker;

impl<T, P: Policy> Extend<T> for Worker<T, P> {
    /// [`push_batch`](Worker::push_batch).
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.push_batch(items);
    }
}

impl<T, P: Policy> FromIterator<T> for Worker<T, P> {
    /// A deque with these items, pushed in order.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let worker = Self::default();
        worker.push_batch(items);
        worker
    }
}
