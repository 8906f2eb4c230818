//! async-executor, in both of its forms: one that can be dropped, and the faster one that cannot.

use std::marker::PhantomData;

use async_executor::{Executor, StaticExecutor};

use super::{Pool, branch};
use crate::pools::{ExecutorThreads, TOTAL};
use crate::workers::workers;

/// A static executor, so that its tasks can spawn without a count of references.
pub(super) trait Spawn: Sized + 'static {
    fn threads() -> ExecutorThreads;
    fn spawn(task: impl Future<Output = ()> + Send + 'static);
}

/// A pool around it.
pub(super) struct Executing<S> {
    _threads: ExecutorThreads,
    spawn: PhantomData<S>,
}

impl<S: Spawn> Pool for Executing<S> {
    fn new() -> Self {
        Self {
            _threads: S::threads(),
            spawn: PhantomData,
        }
    }

    fn spawn(&self, number: u64) {
        S::spawn(async move { TOTAL.add(number) });
    }

    fn grow(&self, depth: u32) {
        S::spawn(async move { grow::<S>(depth) });
    }
}

fn grow<S: Spawn>(depth: u32) {
    branch(depth, |less| S::spawn(async move { grow::<S>(less) }));
}

pub(super) struct Plain;

static PLAIN: Executor<'static> = Executor::new();

impl Spawn for Plain {
    fn threads() -> ExecutorThreads {
        ExecutorThreads::start(&&PLAIN, workers())
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        PLAIN.spawn(task).detach();
    }
}

pub(super) struct Fast;

static FAST: StaticExecutor = StaticExecutor::new();

impl Spawn for Fast {
    fn threads() -> ExecutorThreads {
        ExecutorThreads::start_static(&FAST, workers())
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        FAST.spawn(task).detach();
    }
}

pub(super) type Async = Executing<Plain>;
pub(super) type Static = Executing<Fast>;
