//! Tasks that are spawned by a task: nobody waits for one of them, all add to one sum.

use super::contenders::{Async, AsyncStatic, EXECUTOR, Filch, FilchFutures, Rayon, Tokio, start};
use super::{Spawner, TOTAL, WAVE};
use crate::harness::{Effort, Scenario, per_operation, time};
use crate::total::sum_to;
use filch_actors::prelude::*;

use std::cell::LazyCell;
use std::sync::Arc;

pub(super) fn scenario(effort: Effort) -> Scenario {
    let waves = effort.operations(8);
    Scenario::new("spawn 100k from inside", "ns per process")
        .contender("filch-scheduler", inside::<Filch>(waves))
        .contender("filch-scheduler, future", inside::<FilchFutures>(waves))
        .contender("tokio", inside::<Tokio>(waves))
        .contender("async-executor", inside::<Async>(waves))
        .contender("async-executor, static", inside::<AsyncStatic>(waves))
        .contender("rayon scope", inside::<Rayon>(waves))
}

pub(super) trait Inside: Spawner {
    /// Spawns a task that spawns those which add 1, 2, … `count` to [`TOTAL`].
    fn spawn_inside(&self, count: u64);
}

pub(super) fn inside<S: Inside>(waves: u64) -> impl FnMut() -> f64 {
    let spawner = LazyCell::new(S::new);
    move || {
        let spawner = &*spawner;
        let elapsed = time(|| {
            for _ in 0..waves {
                TOTAL.expect(sum_to(WAVE));
                spawner.spawn_inside(WAVE);
                TOTAL.wait();
            }
        });
        per_operation(elapsed, waves * WAVE)
    }
}

impl Inside for Filch {
    fn spawn_inside(&self, count: u64) {
        let handle = self.handle();
        drop(start(self, move |_, out| {
            for number in 1..=count {
                drop(start(&handle, move |_, out| {
                    TOTAL.add(number);
                    out.done(0);
                }));
            }
            out.done(0);
        }));
    }
}

impl Inside for FilchFutures {
    fn spawn_inside(&self, count: u64) {
        let handle = self.0.handle();
        let root = self.0.spawn(async move {
            for number in 1..=count {
                drop(handle.spawn(async move { TOTAL.add(number) }));
            }
        });
        drop(root.expect("it is admitted"));
    }
}

impl Inside for Tokio {
    fn spawn_inside(&self, count: u64) {
        drop(self.spawn(async move {
            for number in 1..=count {
                drop(tokio::spawn(async move { TOTAL.add(number) }));
            }
        }));
    }
}

impl Inside for Async {
    fn spawn_inside(&self, count: u64) {
        let executor = Arc::clone(self.executor());
        let root = async move {
            for number in 1..=count {
                executor.spawn(async move { TOTAL.add(number) }).detach();
            }
        };
        self.executor().spawn(root).detach();
    }
}

impl Inside for AsyncStatic {
    fn spawn_inside(&self, count: u64) {
        let root = async move {
            for number in 1..=count {
                EXECUTOR.spawn(async move { TOTAL.add(number) }).detach();
            }
        };
        EXECUTOR.spawn(root).detach();
    }
}

impl Inside for Rayon {
    fn spawn_inside(&self, count: u64) {
        self.in_place_scope(|scope| {
            scope.spawn(move |scope| {
                for number in 1..=count {
                    scope.spawn(move |_| TOTAL.add(number));
                }
            });
        });
    }
}
