//! The state that the handles of a scheduler share.

use std::sync::{Arc, Weak};

use filch_parker::{AdaptiveSpinner, Spin};
use filch_promise::answer;
use filch_timers::Timers;

use crate::alarm::Alarm;
use crate::combiner::Combiner;
use crate::config::Config;
use crate::error::{Answer, Stopped};
use crate::job::{Content, Id, Outcome};
use crate::machine::{Call, Machine};

pub(crate) struct Shared<I, S, R> {
    combiner: Combiner<Machine<I, S, R>, Call<I, S, R>>,
}

/// The time that a call waits for the thread at the machine before it leaves its work there: a few
/// microseconds, as long as a wake-up would take. Most calls take a part of one.
const PATIENCE: AdaptiveSpinner = AdaptiveSpinner::with_rounds(8, 0);

impl<I: Id, S: Content, R: Outcome> Shared<I, S, R> {
    pub(crate) fn new(config: Config, timers: &Timers) -> Arc<Self> {
        Arc::new_cyclic(|shared: &Weak<Self>| {
            let shared = Weak::clone(shared);
            let ring = move || {
                if let Some(shared) = shared.upgrade() {
                    shared.tell(Machine::tick);
                }
            };
            let alarm = Alarm::new(timers.clone(), Arc::new(ring));
            Self {
                combiner: Combiner::new(Machine::new(config, alarm)),
            }
        })
    }

    /// Makes the call, or leaves it to the thread that is at the machine. In the first case the
    /// answer is there at once.
    pub(crate) fn ask<T, E>(
        &self,
        call: impl FnOnce(&mut Machine<I, S, R>) -> Result<T, E> + Send + 'static,
    ) -> Answer<T, E>
    where
        T: Send + 'static,
        E: From<Stopped> + Send + 'static,
    {
        let work = |machine: &mut Machine<I, S, R>| machine.enter(call);
        match self.run_now(work) {
            Ok(answer) => Answer::ready(answer),
            Err(work) => {
                let (reply, answer) = answer();
                self.submit(move |machine| reply.tell(work(machine)));
                answer
            }
        }
    }

    /// As `ask`, but nobody wants the answer.
    pub(crate) fn tell<E: From<Stopped>>(
        &self,
        call: impl FnOnce(&mut Machine<I, S, R>) -> Result<(), E> + Send + 'static,
    ) {
        // A caller that wants no answer need not learn of a stop.
        let work = |machine: &mut Machine<I, S, R>| drop(machine.enter(call));
        if let Err(work) = self.run_now(work) {
            self.submit(work);
        }
    }

    /// Leaves the work to the thread that is at the machine, or does it.
    pub(crate) fn submit(&self, work: impl FnOnce(&mut Machine<I, S, R>) + Send + 'static) {
        self.combiner.submit(Box::new(work));
    }

    /// Runs the work on the machine, unless another thread is there for longer than the patience
    /// lasts.
    pub(crate) fn run_now<T, W>(&self, mut work: W) -> Result<T, W>
    where
        W: FnOnce(&mut Machine<I, S, R>) -> T,
    {
        let mut patience = PATIENCE;
        loop {
            match self.combiner.run(work) {
                Ok(output) => return Ok(output),
                Err(back) => work = back,
            }
            if patience.spin() == Spin::Block {
                return Err(work);
            }
        }
    }
}
