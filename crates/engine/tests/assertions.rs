//! Promises of the types to the compiler.

use filch_engine::{
    AddError, Context, Engine, LocalScheduler, Report, Scheduler, TaskSender, Worker, WorkerHandle,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Engine: Clone, Send, Sync);
assert_impl_all!(Scheduler: Clone, Send, Sync);
assert_impl_all!(WorkerHandle: Clone, Send, Sync);
assert_impl_all!(TaskSender<Vec<u8>>: Clone, Send, Sync);
assert_impl_all!(Worker: Send);
assert_impl_all!(AddError: Send);
assert_impl_all!(Report: Clone, Send, Sync);
// It belongs to the scheduler's thread.
assert_not_impl_any!(LocalScheduler: Send, Sync);
assert_not_impl_any!(Context<'static>: Send, Sync);
