//! Workers that break the rules: each is told so, and no action is lost.

use std::time::Duration;

use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::{self, Alive, Blobs, Done, Failure, Hello, done};
use filch_build::reapi::{ActionResult, OutputFile};
use prost::Message as _;
use tonic::Code;

use crate::client::{Client, coordinator};
use crate::fake::{Fake, hello};
use crate::quick;

/// Lets a worker answer an action with a lie: it is refused, and another one ends the action.
async fn refused(client: &Client, lie: impl AsyncFnOnce(&Fake, u64), code: Code, why: &str) {
    let mut liar = Fake::join(client, "liar", 1).await;
    let action = client.script(why, &[], &[]).await;
    let operations = client.execute(action).await;
    let run = liar.run().await;
    lie(&liar, run.run).await;
    let status = liar.refused().await;
    assert_eq!(status.code(), code, "{status:?}");
    assert!(status.message().contains(why), "{status:?}");
    let mut honest = Fake::join(client, "honest", 1).await;
    let run = honest.run().await;
    honest.done(run.run, 0).await;
    assert_eq!(operations.end().await.result.unwrap().exit_code, 0);
}

fn with_output(digest: Option<filch_build::reapi::Digest>) -> ActionResult {
    ActionResult {
        output_files: vec![OutputFile {
            path: "out".to_owned(),
            digest,
            ..OutputFile::default()
        }],
        ..ActionResult::default()
    }
}

#[tokio::test]
async fn lies_about_results() {
    let (_server, client) = coordinator(quick()).await;
    let invalid = Code::InvalidArgument;
    refused(
        &client,
        async |liar, run| liar.done(run + 1, 0).await,
        invalid,
        "not one that",
    )
    .await;
    let wrong = with_output(Some(filch_build::reapi::Digest {
        hash: "../../etc/passwd".to_owned(),
        size_bytes: 3,
    }));
    let lie = async |liar: &Fake, run| liar.result(run, &wrong).await;
    refused(&client, lie, invalid, "not a SHA-256").await;
    let none = with_output(None);
    let lie = async |liar: &Fake, run| liar.result(run, &none).await;
    refused(&client, lie, invalid, "has no digest").await;
    let lie = async |liar: &Fake, run| {
        let outcome = Some(done::Outcome::Result(vec![0xff; 9]));
        liar.say(Event::Done(Done { run, outcome })).await;
    };
    refused(&client, lie, invalid, "not an ActionResult").await;
    let lie = async |liar: &Fake, run| {
        liar.say(Event::Done(Done { run, outcome: None })).await;
    };
    refused(&client, lie, invalid, "without an outcome").await;
    let lie = async |liar: &Fake, run| liar.fail(run, Failure::default()).await;
    refused(&client, lie, invalid, "whose code is OK").await;
    let path = ActionResult {
        output_files: vec![OutputFile {
            path: "../out".to_owned(),
            digest: Some(Digest::EMPTY.into()),
            ..OutputFile::default()
        }],
        ..ActionResult::default()
    };
    let lie = async |liar: &Fake, run| liar.result(run, &path).await;
    refused(&client, lie, invalid, "leads out").await;
}

/// Blobs of an honest worker may be lost just now: that run has failed, and no other.
#[tokio::test]
async fn a_result_without_its_blobs_is_a_failed_attempt() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "liar", 2).await;
    let other = client.script("exit 1", &[], &[]).await;
    let other = client.execute(other).await;
    let keeps = worker.run().await;
    let operations = client.execute(client.script("true", &[], &[]).await).await;
    let absent = with_output(Some(Digest::of(b"absent").into()));
    for _ in 0..3 {
        let run = worker.run().await;
        worker.result(run.run, &absent).await;
    }
    let failure = operations.failure().await;
    assert_eq!(failure.code, Code::Internal as i32);
    let why = "liar: its result names blobs that are not in the storage";
    assert!(failure.message.contains(why), "{}", failure.message);
    worker.done(keeps.run, 1).await;
    assert_eq!(other.end().await.result.unwrap().exit_code, 1);
    let actions = server.farm().snapshot().await.actions;
    assert_eq!((actions.failed, actions.retried), (2, 2));
}

#[tokio::test]
async fn a_second_done_is_a_lie() {
    let (_server, client) = coordinator(quick()).await;
    let mut liar = Fake::join(&client, "liar", 2).await;
    let operations = client.execute(client.script("true", &[], &[]).await).await;
    let run = liar.run().await;
    liar.done(run.run, 0).await;
    operations.end().await;
    liar.done(run.run, 1).await;
    assert_eq!(liar.refused().await.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn lies_about_blobs_and_itself() {
    let (_server, client) = coordinator(quick()).await;
    let invalid = Code::InvalidArgument;
    let lie = async |liar: &Fake, _| liar.say(Event::Hello(hello("again", 1))).await;
    refused(&client, lie, invalid, "second Hello").await;
    let short = Blobs {
        blobs: vec![protocol::Digest {
            hash: vec![1; 31],
            size: 1,
        }],
    };
    let lie = async |liar: &Fake, _| liar.say(Event::Gained(short)).await;
    refused(&client, lie, invalid, "not a SHA-256").await;
    let many = |count: u64, from: u64| Blobs {
        blobs: (from..from + count)
            .map(|number: u64| protocol::Digest {
                hash: [number.to_be_bytes(); 4].concat(),
                size: 1,
            })
            .collect(),
    };
    let lie = async |liar: &Fake, _| liar.say(Event::Gained(many((1 << 16) + 1, 0))).await;
    refused(&client, lie, Code::ResourceExhausted, "in a message").await;
    let lie = async |liar: &Fake, _| {
        for from in 0..5 {
            liar.say(Event::Gained(many(1 << 16, from << 16))).await;
        }
    };
    refused(&client, lie, Code::ResourceExhausted, "more than 262144").await;
    let lie = async |liar: &Fake, _| liar.say(Event::Dropped(many(250_000, 0))).await;
    refused(&client, lie, Code::OutOfRange, "too large").await;
}

#[tokio::test]
async fn a_bad_hello_is_refused() {
    let (server, client) = coordinator(FarmConfig {
        silence: Duration::from_secs(10),
        ..quick()
    })
    .await;
    let address = |address: &str| Hello {
        address: address.to_owned(),
        ..hello("a", 1)
    };
    let bad = [
        hello("a", 0),
        hello("a", 1025),
        hello(&"a".repeat(257), 1),
        address("file:///etc"),
        address("10.0.0.1:77"),
        Hello {
            holds: Some(Blobs {
                blobs: vec![protocol::Digest::default()],
            }),
            ..hello("a", 1)
        },
    ];
    for bad in bad {
        let mut worker = Fake::connect(&client).await;
        let shown = format!("{bad:?}");
        worker.say(Event::Hello(bad)).await;
        assert_eq!(
            worker.refused().await.code(),
            Code::InvalidArgument,
            "{shown}"
        );
    }
    let mut worker = Fake::connect(&client).await;
    worker.say(Event::Alive(Alive {})).await;
    let refused = worker.refused().await;
    assert!(refused.message().contains("not Hello"), "{refused:?}");
    // A worker that sends nothing at all.
    let mut worker = Fake::connect(&client).await;
    tokio::time::pause();
    assert_eq!(worker.refused().await.code(), Code::DeadlineExceeded);
    assert!(server.farm().snapshot().await.workers.is_empty());
}

#[test]
fn a_message_of_a_million_digests_is_larger_than_messages_may_be() {
    let digest = protocol::Digest {
        hash: vec![7; 32],
        size: 1,
    };
    let blobs = vec![digest; 1_000_000];
    assert!(Blobs { blobs }.encoded_len() > filch_build::cache::MAX_MESSAGE);
}
