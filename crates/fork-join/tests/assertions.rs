//! The promises of the types to the compiler.

use std::fmt::Debug;

use filch_fork_join::{Pool, Worker};
use static_assertions::{assert_impl_all, assert_not_impl_any};

// A pool is shared: any thread installs.
assert_impl_all!(Pool: Send, Sync, Debug);
assert_not_impl_any!(Pool: Clone, Copy);

// A worker is its thread's. Jobs are lent it, and `b` cannot take that of `a` along.
assert_impl_all!(Worker: Debug);
assert_not_impl_any!(Worker: Sync, Clone, Copy);
assert_not_impl_any!(&Worker: Send);
