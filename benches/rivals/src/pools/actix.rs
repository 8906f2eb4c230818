//! actix: an actor lives on the thread of its arbiter, and stays there. All have one: dealt to
//! several, each message would wake a thread.

use actix::{Actor, Addr, Arbiter, Context, Handler, Message, Recipient, System, SystemRunner};

use super::{Actors, Threads};

pub(crate) struct Actix {
    arbiter: Arbiter,
    /// The arbiter lives in it.
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

impl Threads for Actix {
    fn with_workers(_workers: usize) -> Self {
        let system = System::new();
        Self {
            arbiter: Arbiter::new(),
            _system: system,
        }
    }
}

impl Actors<u64> for Actix {
    type Address = Recipient<Number>;

    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let address: Addr<_> =
            Behaving::start_in_arbiter(&self.arbiter.handle(), move |_context| Behaving(behaviour));
        address.recipient()
    }

    /// Regardless of the mailbox's limit: the other contenders have none.
    fn send(to: &Self::Address, message: u64) -> bool {
        to.do_send(Number(message));
        true
    }
}

impl Drop for Actix {
    fn drop(&mut self) {
        self.arbiter.stop();
    }
}
