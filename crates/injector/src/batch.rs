//! Items on their way from a claim to their taker.

use core::mem::MaybeUninit;

/// A queue of at most `N` items in place: filled once, then emptied.
///
/// It stands between the claim and the caller's code, so that no sink runs, panics or allocates while a claim is
/// open. Items that nobody takes out are dropped with it.
pub(crate) struct Batch<T, const N: usize> {
    /// Initialised in `front..back`, which is within `0..=N`.
    items: [MaybeUninit<T>; N],
    front: usize,
    back: usize,
}

impl<T, const N: usize> Batch<T, N> {
    pub(crate) const fn new() -> Self {
        Self {
            items: [const { MaybeUninit::uninit() }; N],
            front: 0,
            back: 0,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.front == self.back
    }

    /// Adds an item.
    ///
    /// # Panics
    ///
    /// If it is the `N + 1`st.
    pub(crate) fn push(&mut self, item: T) {
        self.items[self.back].write(item);
        self.back += 1;
    }
}

impl<T, const N: usize> Iterator for Batch<T, N> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let front = self.front;
        self.front += 1;
        // SAFETY: `front` was within `front..back`, so it is initialised; it is outside of it now, so nobody reads
        // it again.
        Some(unsafe { self.items[front].assume_init_read() })
    }
}

impl<T, const N: usize> Drop for Batch<T, N> {
    fn drop(&mut self) {
        /// Drops what is left, also when the destructor of an item unwinds.
        struct Rest<'a, T, const N: usize>(&'a mut Batch<T, N>);

        impl<T, const N: usize> Drop for Rest<'_, T, N> {
            fn drop(&mut self) {
                self.0.for_each(drop);
            }
        }

        Rest(self).0.for_each(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::Batch;
    use alloc::rc::Rc;

    #[test]
    fn items_leave_in_order_and_the_rest_is_dropped() {
        let witness = Rc::new(());
        let mut batch = Batch::<_, 3>::new();
        for number in 0..3 {
            batch.push((number, Rc::clone(&witness)));
        }
        assert_eq!(batch.next().map(|(number, _)| number), Some(0));
        assert_eq!(Rc::strong_count(&witness), 3);
        drop(batch);
        assert_eq!(Rc::strong_count(&witness), 1);
    }
}
