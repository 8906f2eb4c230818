//! The tree of tasks, as each pool grows it.

use std::sync::Arc;

use filch_actors::prelude::*;
use filch_scheduler::{Context, Event, Events, Pid, Process, StepOutput, from_fn};
use futures_lite::future::{Boxed, FutureExt, block_on};
use rayon::ThreadPool;

use super::{Async, Filch, Grower, Of, Tokio, sum_of};

const CHILDREN: u64 = 10;

/// Tells the parent the sum of its leaves, the first of which has the number `first`.
fn knot(parent: Option<Pid>, first: u64, leaves: u64) -> impl Process<Of<u64>> + 'static {
    let (mut sum, mut missing) = (0, None);
    from_fn(
        move |context: &Context<'_, _>, events: Events<'_, _>, out: &mut StepOutput<_>| {
            for event in events {
                if let (Event::Message(of_child), Some(missing)) = (event, &mut missing) {
                    sum += of_child;
                    *missing -= 1;
                }
            }
            if missing.is_none() && leaves > 1 {
                let leaves = leaves / CHILDREN;
                for child in 0..CHILDREN {
                    let knot = knot(Some(context.pid()), first + child * leaves, leaves);
                    drop(
                        context
                            .submit(knot, "run", ())
                            .map_err(|error| error.to_string())?,
                    );
                }
                missing = Some(CHILDREN);
            } else if missing.is_none_or(|missing| missing == 0) {
                let sum = if leaves == 1 { first } else { sum };
                if let Some(parent) = parent {
                    context.send(parent, sum).expect("the parent waits");
                }
                out.done(sum);
            }
            Ok(())
        },
    )
}

impl Grower for Filch {
    fn grow(&self, leaves: u64) -> u64 {
        let grown = self.execute(knot(None, 0, leaves), "run", ());
        grown.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The same as a task, whose children are spawned by `spawn`, at once.
fn task<S, T>(spawn: S, first: u64, leaves: u64) -> Boxed<u64>
where
    S: Fn(Boxed<u64>) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = u64> + Send,
{
    async move {
        if leaves == 1 {
            return first;
        }
        let leaves = leaves / CHILDREN;
        let child = |child| spawn(task(spawn.clone(), first + child * leaves, leaves));
        let children: Vec<_> = (0..CHILDREN).map(child).collect();
        sum_of(children).await
    }
    .boxed()
}

impl Grower for Tokio {
    fn grow(&self, leaves: u64) -> u64 {
        let spawn = |knot| {
            let task = tokio::spawn(knot);
            async { task.await.expect("it does not panic") }
        };
        let root = Tokio::spawn(self, task(spawn, 0, leaves));
        self.block_on(root).expect("it does not panic")
    }
}

impl Grower for Async {
    fn grow(&self, leaves: u64) -> u64 {
        let executor = Arc::clone(&self.executor);
        let root = task(move |knot| executor.spawn(knot), 0, leaves);
        block_on(self.executor.spawn(root))
    }
}

fn rayon_knot(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let leaves = leaves / CHILDREN;
    let mut sums = [0; CHILDREN as usize];
    rayon::scope(|scope| {
        for (child, sum) in (0..).zip(&mut sums) {
            scope.spawn(move |_| *sum = rayon_knot(first + child * leaves, leaves));
        }
    });
    sums.iter().sum()
}

impl Grower for ThreadPool {
    fn grow(&self, leaves: u64) -> u64 {
        self.install(|| rayon_knot(0, leaves))
    }
}
