//! The promises of the types to the compiler: Send, Sync, and their sizes.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::rc::Rc;

use filch_event_queue::{Closed, EventQueue, Receiver, Sender};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

// Any thread may push; events need not be Sync: nobody shares one.
assert_impl_all!(Sender<Cell<u8>>: Send, Sync, Clone, Debug);
assert_not_impl_any!(Sender<Rc<u8>>: Send, Sync);

// One consumer, on one thread at a time.
assert_impl_all!(Receiver<Cell<u8>>: Send, Debug);
assert_not_impl_any!(Receiver<u8>: Sync, Clone, Copy);
assert_not_impl_any!(Receiver<Rc<u8>>: Send);

// The embedded queue is shared, and its consuming methods are unsafe.
assert_impl_all!(EventQueue<Cell<u8>>: Send, Sync, Default, Debug);
assert_not_impl_any!(EventQueue<Rc<u8>>: Send, Sync);
assert_not_impl_any!(EventQueue<u8>: Clone, Copy);

assert_impl_all!(Closed<u8>: Send, Sync, Copy, Eq, Error);

// The queue is inline in its owner, of one size for all events; a sender is a pointer and a number,
// a receiver a pointer, its delay, a scan and the name of a task; a refusal is its event.
const_assert!(size_of::<EventQueue<u64>>() <= 32);
assert_eq_size!(EventQueue<u8>, EventQueue<[u8; 1000]>);
const_assert!(align_of::<EventQueue<u64>>() == align_of::<usize>());
assert_eq_size!(Receiver<u64>, Option<Receiver<u64>>);
const_assert!(size_of::<Receiver<u64>>() <= 96);
assert_eq_size!(Sender<u64>, Option<Sender<u64>>, [usize; 2]);
assert_eq_size!(Closed<[u8; 3]>, [u8; 3]);
