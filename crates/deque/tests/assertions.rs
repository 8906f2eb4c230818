//! The promises of the types to the compiler: Send, Sync, Copy, and their sizes.

use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

use filch_deque::{Request, Steal, Stealer, Worker};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

// The owner's end moves between threads, and one at a time uses it. Its items need not be Sync: no
// two threads share one.
assert_impl_all!(Worker<Cell<u8>>: Send, Default, Debug);
assert_not_impl_any!(Worker<u8>: Sync, Clone, Copy);
assert_not_impl_any!(Worker<Rc<u8>>: Send);

// The thieves' ends are for all threads, if the items may change threads.
assert_impl_all!(Stealer<Cell<u8>>: Send, Sync, Clone, Debug);
assert_not_impl_any!(Stealer<Rc<u8>>: Send, Sync);
assert_not_impl_any!(Stealer<u8>: Copy);
assert_impl_all!(Request<'_, Cell<u8>>: Send, Sync, Debug);

// An answer is Send, Sync or Copy if its item is.
assert_impl_all!(Steal<u8>: Send, Sync, Copy, Eq, Debug);
assert_not_impl_any!(Steal<Rc<u8>>: Send, Sync);

// A stealer is a pointer, with a niche. The owner's end fits a cache line.
assert_eq_size!(Stealer<[u8; 100]>, Option<Stealer<u8>>, usize);
const_assert!(size_of::<Worker<[u8; 100]>>() <= 64);
