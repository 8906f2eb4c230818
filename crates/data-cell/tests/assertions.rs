//! Promises of the types to the compiler: which are Send, Sync or Copy, and how large they are.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::MutexGuard;

use filch_data_cell::{
    Access, Conflict, DataCell, DataLock, LockError, LockSet, Lockable, Locked, Refused,
};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, assert_obj_safe};

// Readers share a reference, and a writer may be on any thread: it takes both.
assert_impl_all!(DataCell<u32>: Send, Sync, Default, Debug, Lockable);
assert_impl_all!(DataCell<Cell<u32>>: Send);
assert_not_impl_any!(DataCell<Cell<u32>>: Sync);
assert_not_impl_any!(DataCell<MutexGuard<'static, u32>>: Send, Sync);
assert_not_impl_any!(DataCell<Rc<u32>>: Send, Sync);
assert_not_impl_any!(DataCell<u32>: Clone, Copy);

// A lock cannot be copied.
assert_impl_all!(DataLock: Send, Sync, Default, Debug);
assert_not_impl_any!(DataLock: Clone, Copy);
assert_obj_safe!(Lockable);

// A guard may be dropped on another thread: no thread owns a lock. It unlocks once.
assert_impl_all!(LockSet: Send, Sync, Debug);
assert_impl_all!(Locked<'_>: Send, Sync, Debug);
assert_not_impl_any!(LockSet: Clone, Copy);
assert_not_impl_any!(Locked<'_>: Clone, Copy);

assert_impl_all!(Access: Send, Sync, Copy, Eq, Ord, Hash, Debug);
assert_impl_all!(LockError: Send, Sync, Copy, Eq, Ord, Hash, Error);
assert_impl_all!(Conflict: Send, Sync, Copy, Eq, Hash, Error);
assert_impl_all!(Refused: Send, Sync, Copy, Eq, Hash, Error);

// The lock is a word, and a cell has nothing else.
assert_eq_size!(DataLock, u32);
assert_eq_size!(DataCell<u32>, [u32; 2]);
assert_eq_size!(DataCell<()>, u32);
// Two vectors.
assert_eq_size!(LockSet, [Vec<()>; 2]);
