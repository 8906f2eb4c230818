//! The pools, and what carries numbers in them, behind one trait.

use std::marker::PhantomData;

use crossfire::mpsc::{Array, bounded_async};
use filch_actors::Inbox;
use filch_actors::prelude::*;
use filch_scheduler::{Event, Handle, Pid};
use tokio::sync::mpsc;

use super::LIMIT;
use crate::pools::{AsyncStatic, Filch, Of, Threads, Tokio};

/// Runs futures.
pub(super) trait Runs: Threads {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static);
}

impl Runs for Filch {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.spawn(future).expect("it is admitted"));
    }
}

impl Runs for Tokio {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.spawn(future));
    }
}

impl Runs for AsyncStatic {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.executor.spawn(future).detach();
    }
}

pub(super) struct Nio(nio::Runtime);

impl Threads for Nio {
    fn with_workers(workers: usize) -> Self {
        let threads = u8::try_from(workers).expect("a few");
        let runtime = nio::RuntimeBuilder::new().worker_threads(threads).rt();
        Self(runtime.expect("the system gives threads"))
    }
}

impl Runs for Nio {
    fn run(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.spawn(future));
    }
}

/// A channel of numbers.
pub(super) trait Channel: 'static {
    type Sender: Clone + Send + Sync + 'static;
    type Receiver: Send + 'static;

    fn new() -> (Self::Sender, Self::Receiver);
    fn send(to: &Self::Sender, number: u64) -> impl Future<Output = ()> + Send;
    fn recv(from: &mut Self::Receiver) -> impl Future<Output = u64> + Send;
}

macro_rules! channel {
    (
        $name:ident, $sender:ty, $receiver:ty, $new:expr,
        |$to:ident, $number:ident| $sent:expr, |$from:ident| $received:expr
    ) => {
        pub(super) struct $name;

        impl Channel for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn new() -> (Self::Sender, Self::Receiver) {
                $new
            }

            async fn send($to: &Self::Sender, $number: u64) {
                assert!($sent, "the receiver lives");
            }

            async fn recv($from: &mut Self::Receiver) -> u64 {
                $received.expect("a sender lives")
            }
        }
    };
}

channel!(
    TokioUnbounded,
    mpsc::UnboundedSender<u64>,
    mpsc::UnboundedReceiver<u64>,
    mpsc::unbounded_channel(),
    |to, number| to.send(number).is_ok(),
    |from| from.recv().await
);
channel!(
    TokioBounded,
    mpsc::Sender<u64>,
    mpsc::Receiver<u64>,
    mpsc::channel(LIMIT),
    |to, number| to.send(number).await.is_ok(),
    |from| from.recv().await
);
channel!(
    AsyncUnbounded,
    async_channel::Sender<u64>,
    async_channel::Receiver<u64>,
    async_channel::unbounded(),
    |to, number| to.try_send(number).is_ok(),
    |from| from.recv().await
);
channel!(
    AsyncBounded,
    async_channel::Sender<u64>,
    async_channel::Receiver<u64>,
    async_channel::bounded(LIMIT),
    |to, number| to.send(number).await.is_ok(),
    |from| from.recv().await
);
channel!(
    Tachyonix,
    tachyonix::Sender<u64>,
    tachyonix::Receiver<u64>,
    tachyonix::channel(LIMIT),
    |to, number| to.send(number).await.is_ok(),
    |from| from.recv().await
);
channel!(
    Crossfire,
    crossfire::MAsyncTx<Array<u64>>,
    crossfire::AsyncRx<Array<u64>>,
    bounded_async(LIMIT),
    |to, number| to.send(number).await.is_ok(),
    |from| from.recv().await
);
channel!(
    Thingbuf,
    thingbuf::mpsc::Sender<u64>,
    thingbuf::mpsc::Receiver<u64>,
    thingbuf::mpsc::channel(LIMIT),
    |to, number| to.send(number).await.is_ok(),
    |from| from.recv().await
);

/// A pool of futures, some of which have an address.
pub(super) trait Meeting: 'static {
    type Pool: Runs;
    type Address: Clone + Send + Sync + 'static;
    type Mail: Send + 'static;

    fn receiver<F>(
        pool: &Self::Pool,
        receive: impl FnOnce(Self::Mail) -> F + Send + 'static,
    ) -> Self::Address
    where
        F: Future<Output = ()> + Send + 'static;

    fn send(to: &Self::Address, number: u64) -> impl Future<Output = ()> + Send;
    fn recv(from: &mut Self::Mail) -> impl Future<Output = u64> + Send;
}

/// Futures of that pool, with those channels.
pub(super) struct On<R, C>(PhantomData<(R, C)>);

impl<R: Runs, C: Channel> Meeting for On<R, C> {
    type Pool = R;
    type Address = C::Sender;
    type Mail = C::Receiver;

    fn receiver<F>(
        pool: &R,
        receive: impl FnOnce(Self::Mail) -> F + Send + 'static,
    ) -> Self::Address
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (address, mail) = C::new();
        pool.run(receive(mail));
        address
    }

    fn send(to: &Self::Address, number: u64) -> impl Future<Output = ()> + Send {
        C::send(to, number)
    }

    fn recv(from: &mut Self::Mail) -> impl Future<Output = u64> + Send {
        C::recv(from)
    }
}

/// Our futures, with our inboxes; a limit of 0 is none.
pub(super) struct OfInbox<const LIMIT: usize>;

impl<const LIMIT: usize> Meeting for OfInbox<LIMIT> {
    type Pool = Filch;
    type Address = (Handle<Of<u64>>, Pid);
    type Mail = Inbox<Of<u64>>;

    fn receiver<F>(
        pool: &Filch,
        receive: impl FnOnce(Self::Mail) -> F + Send + 'static,
    ) -> Self::Address
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let receiver = pool.submission_with(receive);
        let receiver = match LIMIT {
            0 => receiver.spawn(),
            _ => receiver.mailbox(LIMIT).spawn(),
        };
        let pid = receiver.unwrap_or_else(|error| panic!("{error}")).pid();
        (pool.handle(), pid)
    }

    async fn send((scheduler, to): &Self::Address, number: u64) {
        let sent = match LIMIT {
            0 => scheduler.send(*to, number),
            _ => scheduler.send_when_room(*to, number).await,
        };
        assert!(sent.is_ok(), "the receiver lives");
    }

    async fn recv(from: &mut Self::Mail) -> u64 {
        match from.next().await {
            Event::Message(number) => number,
            _ => panic!("nothing else is sent"),
        }
    }
}
