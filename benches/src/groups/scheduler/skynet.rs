//! A tree of processes, ten to a knot: each leaf has a number, and each knot sends its parent the
//! sum of its children's numbers.
//!
//! <https://github.com/atemerev/skynet>

use std::sync::Arc;

use async_executor::Executor;
use filch_actors::prelude::*;
use filch_scheduler::{Context, Event, Events, InitError, Pid, Process, StepOutput};
use futures_lite::future::{Boxed, FutureExt, block_on};

use super::contenders::{Async, Filch, Numbers, Rayon, Tokio};

const CHILDREN: u64 = 10;

/// Grows the tree over the numbers from 0 to `leaves`, not included.
pub(super) trait Grower: super::Spawner {
    fn grow(&self, leaves: u64) -> u64;
}

struct Knot {
    parent: Option<Pid>,
    leaves: u64,
    sum: u64,
    missing: u64,
}

impl Knot {
    fn of(leaves: u64, parent: Option<Pid>) -> Self {
        Self {
            parent,
            leaves,
            sum: 0,
            missing: 0,
        }
    }

    fn tell(&self, context: &Context<'_, Numbers>, out: &mut StepOutput<Numbers>) {
        if let Some(parent) = self.parent {
            context.send(parent, self.sum).expect("the parent waits");
        }
        out.done(self.sum);
    }
}

impl Process<Numbers> for Knot {
    fn init(
        &mut self,
        _context: &Context<'_, Numbers>,
        _method: &str,
        first: u64,
    ) -> Result<(), InitError<Numbers>> {
        self.sum = first;
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Numbers>,
        events: Events<'_, Numbers>,
        out: &mut StepOutput<Numbers>,
    ) -> Result<(), String> {
        if self.leaves == 1 {
            self.tell(context, out);
        } else if self.missing == 0 {
            let leaves = self.leaves / CHILDREN;
            let first = std::mem::take(&mut self.sum);
            for child in 0..CHILDREN {
                let knot = Knot::of(leaves, Some(context.pid()));
                let child = context.submit(knot, "run", first + child * leaves);
                drop(child.unwrap_or_else(|error| panic!("{error}")));
            }
            self.missing = CHILDREN;
        } else {
            for event in events {
                let Event::Message(sum) = event else {
                    unreachable!("only its children speak to it");
                };
                self.sum += sum;
                self.missing -= 1;
            }
            if self.missing == 0 {
                self.tell(context, out);
            }
        }
        Ok(())
    }
}

impl Grower for Filch {
    fn grow(&self, leaves: u64) -> u64 {
        let grown = self.execute(Knot::of(leaves, None), "run", 0);
        grown.unwrap_or_else(|error| panic!("{error}"))
    }
}

fn tokio_knot(first: u64, leaves: u64) -> Boxed<u64> {
    async move {
        if leaves == 1 {
            return first;
        }
        let leaves = leaves / CHILDREN;
        let child = |child| tokio::spawn(tokio_knot(first + child * leaves, leaves));
        let children: Vec<_> = (0..CHILDREN).map(child).collect();
        let mut sum = 0;
        for child in children {
            sum += child.await.expect("it does not panic");
        }
        sum
    }
    .boxed()
}

impl Grower for Tokio {
    fn grow(&self, leaves: u64) -> u64 {
        let root = self.spawn(tokio_knot(0, leaves));
        self.block_on(root).expect("it does not panic")
    }
}

fn async_knot(executor: Arc<Executor<'static>>, first: u64, leaves: u64) -> Boxed<u64> {
    async move {
        if leaves == 1 {
            return first;
        }
        let leaves = leaves / CHILDREN;
        let child = |child| {
            let knot = async_knot(Arc::clone(&executor), first + child * leaves, leaves);
            executor.spawn(knot)
        };
        let children: Vec<_> = (0..CHILDREN).map(child).collect();
        let mut sum = 0;
        for child in children {
            sum += child.await;
        }
        sum
    }
    .boxed()
}

impl Grower for Async {
    fn grow(&self, leaves: u64) -> u64 {
        let executor = self.executor();
        let root = async_knot(Arc::clone(executor), 0, leaves);
        block_on(executor.spawn(root))
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

impl Grower for Rayon {
    fn grow(&self, leaves: u64) -> u64 {
        self.install(|| rayon_knot(0, leaves))
    }
}
