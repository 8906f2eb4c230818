//! How fast messages go, beside a program that publishes the same bytes by `async-nats` alone.

use std::time::{Duration, Instant};

use filch_nats::async_nats;
use filch_scheduler::Undelivered;
use futures_util::StreamExt as _;

use crate::common::{Note, eventually, next, two};
use crate::server::Server;

const MESSAGES: u64 = 200_000;

/// With `--release -- --ignored --nocapture speed`: prints the ratios, in turn with the bare
/// program. That one's subscriber counts what comes; or makes messages of it and hands them to
/// another thread, which is what a process gets.
#[test]
#[ignore = "it measures"]
fn messages_a_second() {
    let Some(server) = Server::start() else {
        return;
    };
    for bytes in [16, 100, 1000] {
        let rate = |time: Duration| MESSAGES as f64 / time.as_secs_f64() / 1000.0;
        let mut ratios = [Vec::new(), Vec::new()];
        for _ in 0..7 {
            let ours = ours(&server, bytes);
            let bare = [false, true].map(|hands_over| bare(&server, bytes, hands_over));
            for (ratios, bare) in ratios.iter_mut().zip(bare) {
                ratios.push(bare.as_secs_f64() / ours.as_secs_f64());
            }
            let [counts, hands_over] = bare.map(rate);
            println!(
                "{bytes} bytes, thousand messages a second: {:.0}; async-nats alone: {counts:.0}, \
                 and handed to another thread: {hands_over:.0}",
                rate(ours)
            );
        }
        let [alone, handed_over] = ratios.map(|mut ratios| {
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        });
        println!(
            "{bytes} bytes: {alone:.2} times as fast as alone, {handed_over:.2} as handed over"
        );
    }
}

/// From a thread to a process on another node.
fn ours(server: &Server, bytes: usize) -> Duration {
    let (here, there) = two(server);
    let (pid, notes) = there.forward();
    let text = Note::Text("x".repeat(bytes));
    let begin = Instant::now();
    for _ in 0..MESSAGES {
        let Err(mut back) = here.scheduler.send(pid, text.clone()) else {
            continue;
        };
        eventually("room for a message", || {
            assert!(matches!(back.reason, Undelivered::Backlog { .. }), "{back}");
            // Room comes by packets. A try without a pause has the other threads wait.
            std::thread::park_timeout(Duration::from_micros(100));
            let message = std::mem::replace(&mut back.message, Note::Done);
            match here.scheduler.send(pid, message) {
                Ok(()) => Some(()),
                Err(again) => {
                    back = again;
                    None
                }
            }
        });
    }
    for _ in 0..MESSAGES {
        next(&notes);
    }
    let time = begin.elapsed();
    assert_eq!(there.nats.stats().missed, 0);
    time
}

/// One connection publishes, another one subscribes: each on a thread of its own, as here.
fn bare(server: &Server, bytes: usize, hands_over: bool) -> Duration {
    let address = server.address();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let (ready, is_ready) = std::sync::mpsc::channel();
    let subscriber = std::thread::spawn({
        let address = address.clone();
        move || {
            runtime().block_on(async move {
                let options = async_nats::ConnectOptions::new().subscription_capacity(1 << 20);
                let client = options.connect(address).await.unwrap();
                let mut messages = client.subscribe("bare").await.unwrap();
                // The server has heard of it when it answers this.
                let _ = client.request("nobody.is.there", "".into()).await;
                ready.send(()).unwrap();
                let (sender, texts) = std::sync::mpsc::channel();
                let reader = std::thread::spawn(move || texts.into_iter().count() as u64);
                for _ in 0..MESSAGES {
                    let message = messages.next().await.unwrap();
                    if hands_over {
                        let text = String::from_utf8_lossy(&message.payload).into_owned();
                        sender.send(Note::Text(text)).unwrap();
                    }
                }
                drop(sender);
                let read = reader.join().unwrap();
                assert_eq!(read, if hands_over { MESSAGES } else { 0 });
            });
        }
    });
    runtime().block_on(async {
        let client = async_nats::connect(address).await.unwrap();
        let text = "x".repeat(bytes);
        next(&is_ready);
        let begin = Instant::now();
        for _ in 0..MESSAGES {
            // Each has bytes of its own, as a message has.
            client.publish("bare", text.clone().into()).await.unwrap();
        }
        client.flush().await.unwrap();
        subscriber.join().unwrap();
        begin.elapsed()
    })
}
