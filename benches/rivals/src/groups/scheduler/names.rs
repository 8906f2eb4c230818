//! Names, of which a process is given so many, one after another; then each of them is looked up.
//!
//! kameo's names are static, where ours copies them; and what it finds is an address.

use std::convert::Infallible;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::Pid;
use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::registry::ACTOR_REGISTRY;

use crate::clock::{per_operation, time};
use crate::harness::{Scenario, keeping};
use crate::pools::{Filch, Threads, Tokio, start};

pub(super) fn scenarios(names: u64) -> impl Iterator<Item = Scenario> {
    let kinds = [("register", 0), ("look up among", 1)];
    let all = [100, 1_000].map(|count| kinds.map(|kind| (kind, count)));
    all.into_iter().flatten().map(move |((kind, part), count)| {
        Scenario::new(format!("{kind} {count} names"), "ns per name")
            .contender("filch-scheduler", turn::<(Filch, Pid)>(names, count, part))
            .contender("kameo", turn::<(Tokio, ActorRef<Idle>)>(names, count, part))
    })
}

/// A process in its pool.
trait Named: 'static {
    fn here() -> Self;
    fn register(&self, name: &'static str) -> bool;
    fn is_found(&self, name: &str) -> bool;
    fn unregister(&self, name: &str) -> bool;
}

impl Named for (Filch, Pid) {
    fn here() -> Self {
        let scheduler = Filch::here();
        let process = start(&scheduler, |_, _, _| ());
        (scheduler, process.pid())
    }

    fn register(&self, name: &'static str) -> bool {
        self.0.register(name, self.1).is_ok()
    }

    fn is_found(&self, name: &str) -> bool {
        self.0.whereis(name) == Some(self.1)
    }

    fn unregister(&self, name: &str) -> bool {
        self.0.unregister(name) == Some(self.1)
    }
}

/// An actor that gets no messages.
struct Idle;

impl Actor for Idle {
    type Args = ();
    type Error = Infallible;

    async fn on_start((): (), _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(Self)
    }
}

impl Named for (Tokio, ActorRef<Idle>) {
    fn here() -> Self {
        let runtime = Tokio::here();
        let actor = runtime.block_on(async { Idle::spawn(()) });
        (runtime, actor)
    }

    fn register(&self, name: &'static str) -> bool {
        self.1.register(name).is_ok()
    }

    fn is_found(&self, name: &str) -> bool {
        let found = ActorRef::<Idle>::lookup(name).expect("of that type");
        found.is_some_and(|found| found.id() == self.1.id())
    }

    fn unregister(&self, name: &str) -> bool {
        ACTOR_REGISTRY.lock().expect("no panic").remove(name)
    }
}

/// The time of a part: to register the names, or to look them up.
fn turn<N: Named>(names: u64, count: u64, part: usize) -> impl FnMut() -> f64 {
    let make = move || {
        let name = |number| -> &'static str { format!("worker {number}").leak() };
        (N::here(), (0..count).map(name).collect::<Vec<_>>())
    };
    keeping(make, move |(process, all)| {
        let mut elapsed = [Duration::ZERO; 2];
        for _ in 0..names / count {
            elapsed[0] += time(|| assert!(all.iter().all(|name| process.register(name))));
            elapsed[1] += time(|| assert!(all.iter().all(|name| process.is_found(name))));
            assert!(all.iter().all(|name| process.unregister(name)));
        }
        per_operation(elapsed[part], names / count * count)
    })
}
