//! The speed of messages, beside a program that publishes the same bytes by `async-nats` alone.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use filch_nats::async_nats;
use filch_scheduler::{Context, Event, Events, InitError, Process, StepOutput, Undelivered};
use futures_util::StreamExt as _;

use super::common::{Note, Test, eventually, next, two};
use super::server::Server;

const MESSAGES: u64 = 200_000;

/// Run it with `--profile measured -- --ignored --nocapture speed`. It prints ratios to the bare
/// program, run in turn. The bare program's subscriber counts the messages, or makes texts of them
/// that another thread counts. Here a process counts. Nobody keeps messages: their memory would be
/// most of what is measured.
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

/// Measures messages from a thread to a process on another node.
fn ours(server: &Server, bytes: usize) -> Duration {
    let (here, there) = two(server);
    let (told, is_done) = channel();
    let counting = Counting {
        left: MESSAGES,
        told,
    };
    let pid = there.scheduler.submit(counting, "run", ()).unwrap().pid();
    let text = Note::Text("x".repeat(bytes));
    let begin = Instant::now();
    for _ in 0..MESSAGES {
        let Err(mut back) = here.scheduler.send(pid, text.clone()) else {
            continue;
        };
        eventually("room for a message", || {
            assert!(matches!(back.reason, Undelivered::Backlog { .. }), "{back}");
            // Room comes by packets. Trying without a pause would delay the other threads.
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
    next(&is_done);
    let time = begin.elapsed();
    assert_eq!(there.nats.stats().missed, 0);
    time
}

/// Counts the messages, and tells when all have come.
struct Counting {
    left: u64,
    told: Sender<()>,
}

impl Process<Test> for Counting {
    fn init(&mut self, _: &Context<'_, Test>, _: &str, (): ()) -> Result<(), InitError<Test>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        events: Events<'_, Test>,
        out: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(_) => self.left -= 1,
                Event::Cancel(_) => out.done(()),
                _ => {}
            }
        }
        if self.left == 0 {
            let _ = self.told.send(());
            out.done(());
        }
        Ok(())
    }
}

/// Measures one connection that publishes and one that subscribes, each on its own thread.
fn bare(server: &Server, bytes: usize, hands_over: bool) -> Duration {
    let address = server.address();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let (ready, is_ready) = channel();
    let subscriber = std::thread::spawn({
        let address = address.clone();
        move || {
            runtime().block_on(async move {
                let options = async_nats::ConnectOptions::new().subscription_capacity(1 << 20);
                let client = options.connect(address).await.unwrap();
                let mut messages = client.subscribe("bare").await.unwrap();
                // Once the server answers this, it knows the subscription.
                let _ = client.request("nobody.is.there", "".into()).await;
                ready.send(()).unwrap();
                let (sender, texts) = channel();
                let reader = std::thread::spawn(move || texts.into_iter().count() as u64);
                for _ in 0..MESSAGES {
                    let message = messages.next().await.unwrap();
                    if hands_over {
                        let text = std::str::from_utf8(&message.payload).unwrap().to_owned();
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
            // Each message has bytes of its own, as ours do.
            client.publish("bare", text.clone().into()).await.unwrap();
        }
        client.flush().await.unwrap();
        subscriber.join().unwrap();
        begin.elapsed()
    })
}
