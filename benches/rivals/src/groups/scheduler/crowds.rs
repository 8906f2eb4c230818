//! Many processes that wait: the first message to each, the end of each by a message, and the end
//! of the pool in which they are.

use std::thread;
use std::time::Duration;

use filch_scheduler::{Event, Handle, Pid};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::clock::{per_operation, time};
use crate::harness::{Scenario, keeping};
use crate::pools::{Filch, Of, TOTAL, Threads, Tokio, start};
use crate::work::workers;

/// The time after which all processes wait, and all threads sleep.
const REST: Duration = Duration::from_millis(20);

/// The part of a turn that is its figure.
const PARTS: [&str; 3] = ["first message to each", "end of each", "drop of a pool"];

pub(super) fn scenarios() -> impl Iterator<Item = Scenario> {
    let all = [1_000, 10_000].into_iter().flat_map(|count| {
        let part = move |(part, what)| (part, format!("{what} of {count} processes"), count);
        PARTS.into_iter().enumerate().map(part)
    });
    all.map(move |(part, kind, count)| {
        let waves = 5_000_u64.div_ceil(count);
        Scenario::of_workers(&kind, workers(), "ns per process")
            .contender("filch-scheduler", turn::<Filch>(waves, count, part))
            .contender("tokio mpsc", turn::<Tokio>(waves, count, part))
    })
}

/// Adds to the total when it is dropped, as part of a process.
struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        TOTAL.add(1);
    }
}

const END: u64 = 0;

/// A pool of processes that add each message to the total, but for the one that ends them.
trait Crowd: Threads {
    type Address;

    fn wait(&self) -> Self::Address;
    fn send(to: &Self::Address, message: u64) -> bool;
}

impl Crowd for Filch {
    type Address = (Handle<Of<u64>>, Pid);

    fn wait(&self) -> Self::Address {
        let last = Last;
        let process = start(self, move |_, events, out| {
            let _ = &last;
            for event in events {
                match event {
                    Event::Message(END) => out.done(0),
                    Event::Message(number) => TOTAL.add(number),
                    _ => out.done(0),
                }
            }
        });
        (self.handle(), process.pid())
    }

    fn send((scheduler, to): &Self::Address, message: u64) -> bool {
        scheduler.send(*to, message).is_ok()
    }
}

impl Crowd for Tokio {
    type Address = UnboundedSender<u64>;

    fn wait(&self) -> Self::Address {
        let (address, mut mailbox) = unbounded_channel();
        let last = Last;
        drop(self.spawn(async move {
            let _last = last;
            while let Some(message @ 1..) = mailbox.recv().await {
                TOTAL.add(message);
            }
        }));
        address
    }

    fn send(to: &Self::Address, message: u64) -> bool {
        to.send(message).is_ok()
    }
}

fn turn<C: Crowd>(waves: u64, count: u64, part: usize) -> impl FnMut() -> f64 {
    let make = move |pool: &C| {
        let crowd: Vec<_> = (0..count).map(|_| pool.wait()).collect();
        thread::sleep(REST);
        crowd
    };
    let all = move |crowd: &[C::Address], message| {
        TOTAL.expect(count);
        time(|| {
            assert!(crowd.iter().all(|one| C::send(one, message)));
            TOTAL.wait();
        })
    };
    keeping(C::here, move |pool| {
        let mut elapsed = [Duration::ZERO; PARTS.len()];
        for _ in 0..waves {
            if part == 2 {
                let pool = C::here();
                // The last address of a task ends it.
                let _crowd = make(&pool);
                TOTAL.expect(count);
                elapsed[2] += time(|| drop(pool));
                TOTAL.wait();
            } else {
                let crowd = make(pool);
                elapsed[0] += all(&crowd, 1);
                elapsed[1] += all(&crowd, END);
            }
        }
        per_operation(elapsed[part], waves * count)
    })
}
