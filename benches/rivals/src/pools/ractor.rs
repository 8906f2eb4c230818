//! ractor, on a runtime of tokio's.

use std::marker::PhantomData;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::runtime::Runtime;

use super::{Actors, Threads};

pub(crate) struct Ractor(Runtime);

/// An actor whose handler is a closure, which is its state.
struct Behaving<F>(PhantomData<fn(F)>);

impl<F: FnMut(u64) + Send + 'static> Actor for Behaving<F> {
    type Msg = u64;
    type State = F;
    type Arguments = F;

    async fn pre_start(&self, _: ActorRef<u64>, behaviour: F) -> Result<F, ActorProcessingErr> {
        Ok(behaviour)
    }

    async fn handle(
        &self,
        _: ActorRef<u64>,
        message: u64,
        behaviour: &mut F,
    ) -> Result<(), ActorProcessingErr> {
        behaviour(message);
        Ok(())
    }
}

impl Threads for Ractor {
    fn with_workers(workers: usize) -> Self {
        Self(Runtime::with_workers(workers))
    }
}

impl Actors<u64> for Ractor {
    type Address = ActorRef<u64>;

    fn actor(&self, behaviour: impl FnMut(u64) + Send + 'static) -> Self::Address {
        let spawned = Actor::spawn(None, Behaving(PhantomData), behaviour);
        let (address, _) = self.0.block_on(spawned).expect("it starts");
        address
    }

    fn send(to: &Self::Address, message: u64) -> bool {
        to.cast(message).is_ok()
    }
}
