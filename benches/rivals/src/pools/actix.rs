//! actix: an actor lives on the thread of its arbiter, and stays there.

use std::cell::Cell;

use actix::{Actor, Addr, Arbiter, Context, Handler, Message, Recipient, System, SystemRunner};

use super::Actors;

/// A pool's arbiters, to which actors are dealt in turn: as many as workers, or a single one.
pub(crate) struct Actix<const IS_SINGLE: bool = false> {
    arbiters: Vec<Arbiter>,
    next: Cell<usize>,
    /// Arbiters live in a system.
    _system: SystemRunner,
}

pub(crate) struct Number(u64);

impl Message for Number {
    type Result = ();
}

/// An actor whose handler is a closure.
struct Behaving<F>(F);

/// No closure is pinned.
impl<F> Unpin for Behaving<F> {}

impl<F: FnMut(u64) + 'static> Actor for Behaving<F> {
    type Context = Context<Self>;
}

impl<F: FnMut(u64) + 'static> Handler<Number> for Behaving<F> {
    type Result = ();

    fn handle(&mut self, Number(number): Number, _context: &mut Context<Self>) {
        (self.0)(number);
    }
}

impl<const IS_SINGLE: bool> Actors<u64> for Actix<IS_SINGLE> {
    type Address = Recipient<Number>;

    fn new(workers: usize) -> Self {
        let system = System::new();
        let count = if IS_SINGLE { 1 } else { workers };
        Self {
            arbiters: (0..count).map(|_| Arbiter::new()).collect(),
            next: Cell::new(0),
            _system: system,
        }
    }

    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let next = self.next.get();
        self.next.set((next + 1) % self.arbiters.len());
        let arbiter = self.arbiters[next].handle();
        let address: Addr<_> =
            Behaving::start_in_arbiter(&arbiter, move |_context| Behaving(behaviour));
        address.recipient()
    }

    /// Regardless of the mailbox's limit: the other contenders have none.
    fn send(to: &Self::Address, message: u64) -> bool {
        to.do_send(Number(message));
        true
    }
}

impl<const IS_SINGLE: bool> Drop for Actix<IS_SINGLE> {
    fn drop(&mut self) {
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
    }
}
