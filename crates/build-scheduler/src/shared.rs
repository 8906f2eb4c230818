//! What the handles of a scheduler share.

use std::sync::{Arc, Weak};

use filch_sync::atomic::{AtomicUsize, Ordering};
use filch_timers::Timers;

use crate::alarm::Alarm;
use crate::combiner::Combiner;
use crate::config::Config;
use crate::event::{Event, Ticket};
use crate::job::{Content, Id, Outcome};
use crate::machine::Machine;

pub(crate) struct Shared<I, S, R> {
    combiner: Combiner<Machine<I, S, R>, Event<I, S, R>>,
    tickets: AtomicUsize,
}

impl<I: Id, S: Content, R: Outcome> Shared<I, S, R> {
    pub(crate) fn new(config: Config, timers: &Timers) -> Arc<Self> {
        Arc::new_cyclic(|shared: &Weak<Self>| {
            let shared = Weak::clone(shared);
            let ring = move || {
                if let Some(shared) = shared.upgrade() {
                    shared.submit(Event::Tick);
                }
            };
            let alarm = Alarm::new(timers.clone(), Arc::new(ring));
            Self {
                combiner: Combiner::new(Machine::new(config, alarm)),
                tickets: AtomicUsize::new(0),
            }
        })
    }

    pub(crate) fn submit(&self, event: Event<I, S, R>) {
        self.combiner.submit(event);
    }

    /// A number that no pick has that waits.
    pub(crate) fn ticket(&self) -> Ticket {
        // ORDERING: Relaxed: each is given once, by the read-modify-write alone; it publishes
        // nothing.
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }
}
