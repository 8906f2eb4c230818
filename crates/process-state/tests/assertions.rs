//! Promises of the types to the compiler: which are Send, Sync or Copy, and how large they are.

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;

use filch_process_state::{
    Edge, IllegalTransition, LetGo, ProcessState, Reason, Snapshot, State, Wake,
};
use static_assertions::{assert_eq_align, assert_eq_size, assert_impl_all, assert_not_impl_any};

// One word, shared by all threads and never copied.
assert_impl_all!(ProcessState: Send, Sync, Debug);
assert_not_impl_any!(ProcessState: Clone, Copy, Default);
assert_eq_size!(ProcessState, Snapshot, u32);
assert_eq_align!(ProcessState, u32);

// Answers are plain values. A snapshot can be read, but not made from bits.
assert_impl_all!(Snapshot: Send, Sync, Copy, Eq, Hash, Debug);
assert_not_impl_any!(Snapshot: From<u32>, Into<u32>, Default);
assert_impl_all!(State: Send, Sync, Copy, Ord, Hash, Debug);
assert_impl_all!(Reason: Send, Sync, Copy, Ord, Hash, Debug);
assert_impl_all!(Wake: Send, Sync, Copy, Ord, Hash, Debug);
assert_impl_all!(LetGo: Send, Sync, Copy, Ord, Hash, Debug);
assert_impl_all!(Edge: Send, Sync, Copy, Ord, Hash, Debug);
assert_impl_all!(IllegalTransition: Send, Sync, Copy, Eq, Error);

// An edge's answer fits a register.
assert_eq_size!(Result<LetGo, IllegalTransition>, u16);
assert_eq_size!(Result<(), IllegalTransition>, u16);
