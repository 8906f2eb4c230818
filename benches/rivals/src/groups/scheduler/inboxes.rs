//! Messages from future to future: to our inbox, and through the rivals' channels, on our futures
//! and on theirs.
//!
//! nio's runtime cannot be dropped: its threads stay, asleep.

mod contenders;

use std::sync::{Arc, OnceLock};

use self::contenders::{
    AsyncBounded, AsyncUnbounded, Crossfire, Meeting, Nio, OfInbox, On, Runs, Tachyonix, Thingbuf,
    TokioBounded, TokioUnbounded,
};
use crate::clock::cost;
use crate::harness::{Scenario, keeping};
use crate::pools::{AsyncStatic, Filch, TOTAL, Threads, Tokio};
use crate::total::sum_to;
use crate::work::workers;

/// Messages that wait at most, where there is a limit.
const LIMIT: usize = 64;

/// Senders of the fan-in.
const SENDERS: u64 = 100;

/// The scenario without a limit, on each kind of futures.
macro_rules! all {
    ($scenario:expr, $turn:ident($count:expr)) => {
        $scenario
            .contender(INBOX, $turn::<OfInbox<0>>($count))
            .contender("tokio mpsc", $turn::<On<Filch, TokioUnbounded>>($count))
            .contender(TOKIO, $turn::<On<Tokio, TokioUnbounded>>($count))
            .contender(
                "async-executor, static, async-channel",
                $turn::<On<AsyncStatic, AsyncUnbounded>>($count),
            )
            .contender("nio, tokio mpsc", $turn::<On<Nio, TokioUnbounded>>($count))
    };
}

pub(super) fn scenarios() -> [Scenario; 4] {
    let count = 50_000;
    let of = |kind, unit| Scenario::of_workers(kind, workers(), unit);
    let message = "ns per message";
    [
        of("future to future, at most 64 wait", message)
            .contender(INBOX, stream::<OfInbox<LIMIT>>(count))
            .contender("tokio mpsc", stream::<On<Filch, TokioBounded>>(count))
            .contender("async-channel", stream::<On<Filch, AsyncBounded>>(count))
            .contender("tachyonix", stream::<On<Filch, Tachyonix>>(count))
            .contender("crossfire", stream::<On<Filch, Crossfire>>(count))
            .contender("thingbuf", stream::<On<Filch, Thingbuf>>(count))
            .contender(TOKIO, stream::<On<Tokio, TokioBounded>>(count)),
        all!(of("future to future, no limit", message), stream(count))
            .contender("async-channel", stream::<On<Filch, AsyncUnbounded>>(count)),
        all!(of("ping-pong of futures", "ns per hop"), ping_pong(count)),
        all!(of("fan-in of 100 futures", message), fan_in(count)),
    ]
}

const INBOX: &str = "filch, inbox";
const TOKIO: &str = "tokio, mpsc, its tasks";

fn stream<M: Meeting>(count: u64) -> impl FnMut() -> f64 {
    many::<M>(1, count)
}

fn fan_in<M: Meeting>(count: u64) -> impl FnMut() -> f64 {
    many::<M>(SENDERS, count / SENDERS)
}

/// So many send so many each, to one.
fn many<M: Meeting>(senders: u64, each: u64) -> impl FnMut() -> f64 {
    keeping(M::Pool::here, move |pool| {
        TOTAL.expect(senders * sum_to(each));
        cost(senders * each, || {
            let address = M::receiver(pool, move |mut mail| async move {
                let mut sum = 0;
                for _ in 0..senders * each {
                    sum += M::recv(&mut mail).await;
                }
                TOTAL.add(sum);
            });
            for _ in 0..senders {
                let address = address.clone();
                pool.run(async move {
                    for number in 1..=each {
                        M::send(&address, number).await;
                    }
                });
            }
            TOTAL.wait();
        })
    })
}

fn ping_pong<M: Meeting>(hops: u64) -> impl FnMut() -> f64 {
    let rallies = hops / 2;
    keeping(M::Pool::here, move |pool| {
        TOTAL.expect(1);
        cost(2 * rallies, || {
            let first = Arc::new(OnceLock::new());
            let back = Arc::clone(&first);
            let second = M::receiver(pool, move |mut mail| async move {
                for _ in 0..rallies {
                    let ball = M::recv(&mut mail).await;
                    M::send(back.get().expect("set before the first ball"), ball).await;
                }
            });
            let address = M::receiver(pool, move |mut mail| async move {
                for _ in 0..rallies {
                    let ball = M::recv(&mut mail).await;
                    M::send(&second, ball).await;
                }
                TOTAL.add(M::recv(&mut mail).await);
            });
            assert!(first.set(address.clone()).is_ok());
            pool.run(async move { M::send(&address, 1).await });
            TOTAL.wait();
        })
    })
}
