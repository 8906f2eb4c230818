//! Functions of a worker, for one task.

use std::ops::Range;

use filch_engine::Worker;

use crate::systems::{Frame, Own, Settings, Visitor, one, two, visit};

/// A worker with that share of the systems. It owns their data, and reads [`Settings`].
pub fn list(worker: Worker, share: Range<usize>) -> Worker {
    let mut share = Share {
        share,
        worker: Some(worker),
    };
    visit(&mut share);
    share.worker.expect("put back each time")
}

struct Share {
    share: Range<usize>,
    worker: Option<Worker>,
}

impl Share {
    fn list(&mut self, system: usize, list: impl FnOnce(Worker) -> Worker) {
        if self.share.contains(&system) {
            self.worker = self.worker.take().map(list);
        }
    }
}

impl Visitor for Share {
    fn one<const N: usize>(&mut self) {
        self.list(N, |worker| {
            let worker = worker.owns(Own::<N>::new);
            worker.on(|_: &Frame, own: &mut Own<N>| one(own))
        });
    }

    fn two<const N: usize>(&mut self) {
        self.list(N, |worker| {
            let worker = worker.owns(Own::<N>::new);
            worker.on(|_: &Frame, own: &mut Own<N>, settings: &Settings| two(own, settings))
        });
    }
}
