//! A worker that speaks the protocol and runs nothing.

use filch_build::digest::Digest;
use filch_build::protocol::farm_client::FarmClient;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::to_worker::Order;
use filch_build::protocol::{Blobs, Done, Failure, FromWorker, Hello, Run, ToWorker, done};
use filch_build::reapi::ActionResult;
use futures_util::stream;
use prost::Message as _;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use crate::client::{Client, soon};

/// A worker that speaks the protocol and runs nothing.
pub(crate) struct Fake {
    events: mpsc::Sender<FromWorker>,
    orders: Streaming<ToWorker>,
}

pub(crate) fn hello(name: &str, slots: u32) -> Hello {
    Hello {
        name: name.to_owned(),
        slots,
        ..Hello::default()
    }
}

/// Makes the greeting of a worker with one slot that has these blobs, at that address.
pub(crate) fn holder(name: &str, address: &str, blobs: &[Digest]) -> Hello {
    Hello {
        address: format!("http://{address}"),
        holds: Some(holds(blobs)),
        ..hello(name, 1)
    }
}

pub(crate) fn holds(blobs: &[Digest]) -> Blobs {
    Blobs {
        blobs: blobs.iter().map(|&blob| blob.into()).collect(),
    }
}

impl Fake {
    /// Connects, and sends nothing yet.
    pub(crate) async fn connect(client: &Client) -> Self {
        let (events, said) = mpsc::channel(64);
        let said = stream::unfold(said, async |mut said| Some((said.recv().await?, said)));
        let orders = FarmClient::new(client.channel.clone()).work(said).await;
        let orders = orders.unwrap().into_inner();
        Self { events, orders }
    }

    /// Connects as a worker of that name.
    pub(crate) async fn join(client: &Client, name: &str, slots: u32) -> Self {
        Self::greet(client, hello(name, slots)).await
    }

    pub(crate) async fn greet(client: &Client, hello: Hello) -> Self {
        let mut fake = Self::connect(client).await;
        fake.say(Event::Hello(hello)).await;
        assert!(matches!(fake.order().await, Order::Welcome(_)));
        fake
    }

    pub(crate) async fn say(&self, event: Event) {
        let event = Some(event);
        self.events.send(FromWorker { event }).await.unwrap();
    }

    /// Returns the next order.
    pub(crate) async fn order(&mut self) -> Order {
        let order = soon(self.orders.message()).await.expect("no error");
        order.expect("more").order.unwrap()
    }

    /// Returns the next order, which must be to run something.
    pub(crate) async fn run(&mut self) -> Run {
        match self.order().await {
            Order::Run(run) => run,
            other => panic!("not Run: {other:?}"),
        }
    }

    /// Takes the next order, which must be to run something, and ends it with this exit code.
    pub(crate) async fn run_to(&mut self, exit_code: i32) {
        let run = self.run().await.run;
        self.done(run, exit_code).await;
    }

    /// Returns how the stream ends; only orders to run may come before.
    pub(crate) async fn refused(&mut self) -> Status {
        loop {
            match soon(self.orders.message()).await {
                Ok(Some(ToWorker {
                    order: Some(Order::Run(_)),
                })) => {}
                Ok(other) => panic!("not refused: {other:?}"),
                Err(status) => return status,
            }
        }
    }

    /// Checks that the stream ends without an error.
    pub(crate) async fn gone(&mut self) {
        assert_eq!(soon(self.orders.message()).await.unwrap(), None);
    }

    pub(crate) async fn done(&self, run: u64, exit_code: i32) {
        let result = ActionResult {
            exit_code,
            ..ActionResult::default()
        };
        self.result(run, &result).await;
    }

    pub(crate) async fn result(&self, run: u64, result: &ActionResult) {
        self.end(run, Some(done::Outcome::Result(result.encode_to_vec())))
            .await;
    }

    pub(crate) async fn fail(&self, run: u64, failure: Failure) {
        self.end(run, Some(done::Outcome::Failure(failure))).await;
    }

    pub(crate) async fn end(&self, run: u64, outcome: Option<done::Outcome>) {
        self.say(Event::Done(Done { run, outcome })).await;
    }
}
