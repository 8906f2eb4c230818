//! Promises of the types to the compiler: which are Send, Sync or Copy, and how large they are.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::MutexGuard;
use std::sync::atomic::AtomicU32;

use filch_slab::{AllocateError, Occupancy, Slab, Stale, Unpinned};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

// A shared slab gives references to all threads, and the last one drops the values: Sync needs
// both.
assert_impl_all!(Slab<AtomicU32>: Send, Sync, Debug);
assert_impl_all!(Slab<Cell<u32>>: Send);
assert_not_impl_any!(Slab<Cell<u32>>: Sync);
assert_not_impl_any!(Slab<Rc<u32>>: Send, Sync);
// Sync, and not Send.
assert_not_impl_any!(Slab<MutexGuard<'static, u32>>: Send, Sync);
assert_not_impl_any!(Slab<AtomicU32>: Clone, Copy);

assert_impl_all!(Occupancy: Send, Sync, Default, Debug);
assert_not_impl_any!(Occupancy: Clone, Copy);
assert_impl_all!(Unpinned: Send, Sync, Copy, Eq, Debug);
assert_impl_all!(Stale: Send, Sync, Copy, Eq, Debug);
assert_impl_all!(AllocateError: Send, Sync, Copy, Eq, Error);

// The counter of fresh slots and the free list have cache lines of their own.
const_assert!(align_of::<Slab<u8>>() == 128);
assert_eq_size!(Slab<u8>, Slab<[u64; 100]>);
const_assert!(size_of::<Slab<u8>>() <= 768);
assert_eq_size!(Occupancy, u64);
assert_eq_size!(Result<(), Stale>, u8);
