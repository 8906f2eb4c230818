//! Promises of the types to the compiler: which are Send and Sync, and how large they are.

use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

use filch_injector::Injector;
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

// All threads push and take. Items need not be Sync: nobody shares one.
assert_impl_all!(Injector<Cell<u8>>: Send, Sync, Default, Debug);
assert_impl_all!(Injector<Cell<u8>, 1>: Send, Sync, Debug);
assert_not_impl_any!(Injector<Rc<u8>>: Send, Sync, Default);
assert_not_impl_any!(Injector<u8>: Clone, Copy);

// Producers and consumers do not share a cache line. Items are elsewhere, so they do not matter.
const_assert!(align_of::<Injector<u8>>() == 128);
assert_eq_size!(Injector<u8, 1>, Injector<[u8; 100], 127>);
const_assert!(size_of::<Injector<u8>>() <= 1152);
