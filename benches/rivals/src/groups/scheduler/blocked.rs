//! Messages to a process that waits for something else: they are kept, and do not wake it.

use std::sync::{Arc, Mutex, PoisonError};

use filch_scheduler::{Completion, Event, Handle, Pid, ProcessHandle, Scheduler};
use tokio::sync::{mpsc, oneshot};

use crate::pools::{Filch, Of, Tokio, start, tokio_runtime};
use crate::workers::workers;

/// A scheduler with processes that wait.
pub(super) trait Waiters: 'static {
    /// A process that waits until it is [released](Self::release).
    type Waiter;

    fn new() -> Self;
    fn waiter(&self, messages: u64) -> Self::Waiter;
    fn send(to: &Self::Waiter, message: u64);
    /// Ends the wait, and checks that every message arrived.
    fn release(&self, waiter: Self::Waiter);
}

type Outstanding = Arc<Mutex<Option<Completion<Of<u64>>>>>;

/// The scheduler, and the command that its process has outstanding.
pub(super) struct FilchWaiters {
    scheduler: Filch,
    outstanding: Outstanding,
}

impl Waiters for FilchWaiters {
    type Waiter = (Handle<Of<u64>>, Pid, ProcessHandle<Of<u64>>);

    fn new() -> Self {
        let outstanding = Outstanding::default();
        let scheduler = Scheduler::builder().workers(workers()).handler({
            let outstanding = Arc::clone(&outstanding);
            move |(), completion| {
                *outstanding.lock().unwrap_or_else(PoisonError::into_inner) = Some(completion);
            }
        });
        Self {
            scheduler: scheduler.build().expect("the system gives threads"),
            outstanding,
        }
    }

    /// Waits for one command, then for its messages.
    fn waiter(&self, messages: u64) -> Self::Waiter {
        let (mut started, mut missing) = (false, messages);
        let process = start(&self.scheduler, move |_, events, out| {
            if !started {
                started = true;
                out.yield_command(0, ());
                return out.wait();
            }
            for event in events {
                missing -= u64::from(matches!(event, Event::Message(_)));
            }
            if missing == 0 {
                out.done(0);
            }
        });
        let waits = || {
            let outstanding = self.outstanding.lock();
            outstanding
                .unwrap_or_else(PoisonError::into_inner)
                .is_some()
        };
        while !waits() {
            std::thread::yield_now();
        }
        (self.scheduler.handle(), process.pid(), process)
    }

    fn send((scheduler, to, _): &Self::Waiter, message: u64) {
        scheduler.send(*to, message).expect("it waits");
    }

    fn release(&self, (_, _, process): Self::Waiter) {
        let mut outstanding = self
            .outstanding
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        outstanding.take().expect("it waits").complete(0);
        drop(outstanding);
        process.join().expect("it gets its messages");
    }
}

pub(super) struct TokioWaiter {
    address: mpsc::UnboundedSender<u64>,
    go: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Waiters for Tokio {
    type Waiter = TokioWaiter;

    fn new() -> Self {
        tokio_runtime(workers())
    }

    fn waiter(&self, messages: u64) -> TokioWaiter {
        let (address, mut mailbox) = mpsc::unbounded_channel();
        let (go, gone) = oneshot::channel();
        let task = self.spawn(async move {
            gone.await.expect("it is released");
            for _ in 0..messages {
                mailbox.recv().await.expect("as many were sent");
            }
        });
        TokioWaiter { address, go, task }
    }

    fn send(to: &TokioWaiter, message: u64) {
        to.address.send(message).expect("it waits");
    }

    fn release(&self, waiter: TokioWaiter) {
        waiter.go.send(()).expect("it waits");
        self.block_on(waiter.task).expect("it gets its messages");
    }
}
