//! A child of a supervisor that fails, until its next life begins.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use filch_scheduler::{Context, Event, Events, Pid, StepOutput, from_fn};
use filch_supervisor::{Child, Strategy, Supervisor};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::message::{Context as KameoContext, Message};
use kameo::supervision::RestartPolicy;

use crate::clock::time;
use crate::harness::{Scenario, keeping};
use crate::pools::{Filch, Of, Pool, TIMERS, Threads, Tokio};
use crate::work::workers;

/// Failures of a turn.
const FAILURES: usize = 50;

/// No limit of failures is reached.
const PERIOD: Duration = Duration::from_millis(1);
const MANY: u32 = 1_000_000;

pub(super) fn scenarios() -> impl Iterator<Item = Scenario> {
    [100, 1_000, 100_000].into_iter().map(|count| {
        let kind = format!("restart of one child of {count}");
        Scenario::of_workers(&kind, workers(), "us")
            .latencies("filch-supervisor", turn::<Ours>(count))
            .latencies("kameo", turn::<Kameo>(count))
    })
}

/// A supervisor with so many children, each of which tells its address when a life begins.
trait Family: 'static {
    type Address: Send + 'static;

    fn start(count: usize, born: &Sender<Self::Address>) -> Self;
    /// Sends the child a message at which it fails.
    fn fail(&self, child: &Self::Address);
}

fn turn<F: Family>(count: usize) -> impl FnMut() -> Vec<f64> {
    let make = move || {
        let (sender, born) = mpsc::channel();
        let family = F::start(count, &sender);
        let children: Vec<_> = born.iter().take(count).collect();
        (family, born, RefCell::new(children), Cell::new(0))
    };
    keeping(make, |(family, born, children, next)| {
        let mut children = children.borrow_mut();
        let failure = |_| {
            let child = next.get() % children.len();
            // Neighbours were made together.
            next.set(child + 7_919);
            let took = time(|| {
                family.fail(&children[child]);
                children[child] = born.recv().expect("it begins anew");
            });
            took.as_secs_f64() * 1e6
        };
        (0..FAILURES).map(failure).collect()
    })
}

struct Ours(Filch);

fn child(born: Sender<Pid>) -> Child<Of<u64>> {
    Child::unnamed(move |scheduler| {
        let mut born = Some(born.clone());
        let process = from_fn(
            move |context: &Context<'_, _>, events: Events<'_, _>, out: &mut StepOutput<_>| {
                if let Some(born) = born.take() {
                    // At the end of the round nobody listens.
                    let _ = born.send(context.pid());
                }
                for event in events {
                    match event {
                        Event::Message(_) => return Err("it was told to".to_owned()),
                        Event::Cancel(_) => out.done(0),
                        _ => {}
                    }
                }
                Ok(())
            },
        );
        scheduler.submission(process, "run", ())
    })
}

impl Family for Ours {
    type Address = Pid;

    fn start(count: usize, born: &Sender<Pid>) -> Self {
        let scheduler = Filch::here();
        let supervisor = Supervisor::new(Strategy::OneForOne).intensity(MANY as usize, PERIOD);
        let supervisor = (0..count).fold(supervisor, |it, _| it.child(child(born.clone())));
        let started = supervisor.start(&scheduler, &TIMERS);
        let started = started.unwrap_or_else(|error| panic!("{error}"));
        drop(started.wait().unwrap_or_else(|error| panic!("{error}")));
        Self(scheduler)
    }

    fn fail(&self, &child: &Pid) {
        self.0.send(child, 0).expect("it lives");
    }
}

/// The children end with the parent, and that with its runtime.
struct Kameo {
    _parent: ActorRef<Parent>,
    _runtime: Tokio,
}

struct Parent;

impl Actor for Parent {
    type Args = ();
    type Error = Infallible;

    async fn on_start((): (), _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(Self)
    }
}

struct Failing;

impl Actor for Failing {
    type Args = Sender<ActorRef<Self>>;
    type Error = Infallible;

    async fn on_start(born: Self::Args, own: ActorRef<Self>) -> Result<Self, Infallible> {
        // At the end of the round nobody listens.
        let _ = born.send(own);
        Ok(Self)
    }
}

struct Fail;

impl Message<Fail> for Failing {
    type Reply = Result<(), &'static str>;

    async fn handle(&mut self, _: Fail, _: &mut KameoContext<Self, Self::Reply>) -> Self::Reply {
        Err("it was told to")
    }
}

impl Family for Kameo {
    type Address = ActorRef<Failing>;

    fn start(count: usize, born: &Sender<Self::Address>) -> Self {
        let runtime = Tokio::with_clock(workers());
        let parent = runtime.block_on(async {
            let parent = Parent::spawn(());
            for _ in 0..count {
                let child = Failing::supervise(&parent, born.clone());
                let child = child.restart_policy(RestartPolicy::Permanent);
                child.restart_limit(MANY, PERIOD).spawn().await;
            }
            parent
        });
        Self {
            _parent: parent,
            _runtime: runtime,
        }
    }

    fn fail(&self, child: &Self::Address) {
        child.tell(Fail).blocking_send().expect("it lives");
    }
}
