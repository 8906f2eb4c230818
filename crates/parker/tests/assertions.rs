//! Promises of the types to the compiler: which are Send, Sync or Copy, and how large they are.

use std::fmt::Debug;
use std::hash::Hash;

use filch_parker::{AdaptiveSpinner, Parker, Spin, Token, Unparker};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any};

// Two threads that park on one token would take each other's wake-ups.
assert_impl_all!(Parker: Send, Default, Debug);
assert_not_impl_any!(Parker: Sync, Clone, Copy);

assert_impl_all!(Unparker: Send, Sync, Clone, Debug);
assert_not_impl_any!(Unparker: Copy);

assert_impl_all!(AdaptiveSpinner: Send, Sync, Clone, Default, Debug);
// A copy would count its rounds apart, unnoticed.
assert_not_impl_any!(AdaptiveSpinner: Copy);
assert_impl_all!(Spin: Send, Sync, Copy, Eq, Hash, Debug);

// A token is shared, and there is one of it.
assert_impl_all!(Token: Send, Sync, Default, Debug);
assert_not_impl_any!(Token: Clone, Copy);
assert_eq_size!(Token, u32);

// Both ends are a pointer, with a niche.
assert_eq_size!(Parker, Unparker, Option<Parker>, Option<Unparker>, usize);
assert_eq_size!(AdaptiveSpinner, [u32; 3]);
