//! Checks the types that may go from thread to thread.

use std::rc::Rc;

use filch_build_scheduler::{Answer, Canceller, Picking, Planner, Scheduler};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Scheduler<String, Vec<u8>, Vec<u8>>: Send, Sync, Clone);
assert_impl_all!(Picking<String, Vec<u8>, Vec<u8>>: Send, Unpin);
assert_impl_all!(Answer<u32>: Send, Unpin);
assert_impl_all!(Canceller: Send, Sync, Clone);
assert_impl_all!(Planner<u64, u64, ()>: Send);
assert_not_impl_any!(Planner<u64, Rc<()>, ()>: Send);
