//! The pools of the fairness group, with what else is timed here: futures that wait, and timers,
//! each in the way that its users write.

use std::sync::LazyLock;
use std::time::Duration;

use async_io::Timer;
use filch_actors::prelude::*;
use filch_timers::Timers;

use crate::groups::fairness::callers::Callable;
use crate::groups::fairness::contenders::{Async, Filch, Tokio};

/// A pool that runs futures, and has a clock.
pub(super) trait Latent: Callable + Sync {
    /// A pool whose futures may [`sleep`](Self::sleep).
    fn with_clock(workers: usize) -> Self {
        Self::new(workers)
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static);

    /// For a future of the pool.
    fn sleep(length: Duration) -> impl Future<Output = ()> + Send;
}

impl Latent for Filch {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle().spawn(future).expect("it is admitted"));
    }

    async fn sleep(length: Duration) {
        static TIMERS: LazyLock<Timers> =
            LazyLock::new(|| Timers::new().expect("the system gives threads"));
        TIMERS.sleep(length).await.expect("they are never closed");
    }
}

impl Latent for Tokio {
    fn with_clock(workers: usize) -> Self {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_time()
            .build()
            .expect("the system gives threads")
    }

    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.spawn(future));
    }

    fn sleep(length: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(length)
    }
}

impl Latent for Async {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.executor.spawn(future).detach();
    }

    async fn sleep(length: Duration) {
        Timer::after(length).await;
    }
}
