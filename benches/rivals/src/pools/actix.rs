//! actix: an actor lives on the thread of its arbiter, and stays there.

use std::cell::Cell;

use actix::{Actor, Addr, Arbiter, Context, Handler, Message, Recipient, System, SystemRunner};

use super::Actors;

/// Its arbiters, to which actors are dealt in turn.
pub(crate) struct Actix<const ARBITERS: usize> {
    arbiters: [Arbiter; ARBITERS],
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

impl<const ARBITERS: usize> Actors<u64> for Actix<ARBITERS> {
    type Address = Recipient<Number>;

    /// As many arbiters as the type says.
    fn new(_workers: usize) -> Self {
        let system = System::new();
        Self {
            arbiters: std::array::from_fn(|_| Arbiter::new()),
            next: Cell::new(0),
            _system: system,
        }
    }

    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let next = self.next.get();
        self.next.set((next + 1) % ARBITERS);
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

impl<const ARBITERS: usize> Drop for Actix<ARBITERS> {
    fn drop(&mut self) {
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
    }
}
