//! Workers that break the rules: each is told so, and no action is lost.

use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::{self, Alive, Blobs, Failure, Hello, Property, done};
use filch_build::reapi::{self, ActionResult, ExecutedActionMetadata};
use prost::Message as _;
use tonic::Code;

use super::fake::{Fake, hello};
use super::quick;
use crate::client::{Client, coordinator, with_output};

/// Lets a worker answer an action with a lie: it is refused, and another one ends the action.
async fn refused(client: &Client, lie: impl AsyncFnOnce(&Fake, u64), code: Code, why: &str) {
    let mut liar = Fake::join(client, "liar", 1).await;
    let operations = client.begin(why).await;
    let run = liar.run().await;
    lie(&liar, run.run).await;
    let status = liar.refused().await;
    assert_eq!(status.code(), code, "{status:?}");
    assert!(status.message().contains(why), "{status:?}");
    let mut honest = Fake::join(client, "honest", 1).await;
    honest.run_to(0).await;
    operations.ends_with(0).await;
}

/// Makes a result with one file, which has that digest.
fn with_digest(digest: Option<reapi::Digest>) -> ActionResult {
    let mut result = with_output("out", Digest::EMPTY);
    result.output_files[0].digest = digest;
    result
}

#[tokio::test]
async fn lies_about_results() {
    let (_server, client) = coordinator(quick()).await;
    let invalid = Code::InvalidArgument;
    let lie = async |liar: &Fake, run| liar.done(run + 1, 0).await;
    refused(&client, lie, invalid, "not one that").await;
    let wrong = reapi::Digest {
        hash: "../../etc/passwd".to_owned(),
        size_bytes: 3,
    };
    for (result, why) in [
        (with_digest(Some(wrong)), "not a SHA-256"),
        (with_digest(None), "is missing"),
        (with_output("../out", Digest::EMPTY), "leads out"),
    ] {
        let lie = async |liar: &Fake, run| liar.result(run, &result).await;
        refused(&client, lie, invalid, why).await;
    }
    let no_result = done::Outcome::Result(vec![0xff; 9]);
    let no_failure = done::Outcome::Failure(Failure::default());
    for (outcome, why) in [
        (Some(no_result), "not an ActionResult"),
        (None, "without an outcome"),
        (Some(no_failure), "whose code is OK"),
    ] {
        let lie = async |liar: &Fake, run| liar.end(run, outcome).await;
        refused(&client, lie, invalid, why).await;
    }
}

/// Blobs of an honest worker may be lost just now: that run has failed, and no other.
#[tokio::test]
async fn a_result_without_its_blobs_is_a_failed_attempt() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "liar", 2).await;
    let other = client.begin("exit 1").await;
    let keeps = worker.run().await;
    let operations = client.begin("true").await;
    let absent = with_output("out", Digest::of(b"absent"));
    for _ in 0..3 {
        let run = worker.run().await;
        worker.result(run.run, &absent).await;
    }
    let failure = operations.failure(Code::Internal).await;
    let why = "liar: its result names blobs that are not in the storage";
    assert!(failure.message.contains(why), "{}", failure.message);
    worker.done(keeps.run, 1).await;
    other.ends_with(1).await;
    let actions = server.farm().snapshot().actions;
    assert_eq!((actions.failed, actions.retried), (2, 2));
}

#[tokio::test]
async fn a_worker_that_misses_what_is_there_has_failed() {
    let (_server, client) = coordinator(quick()).await;
    let mut liar = Fake::join(&client, "liar", 1).await;
    let input = client.put("an input").await;
    let action = client.script("true", &[("input", input)], &[]).await;
    let operations = client.execute(action).await;
    for blobs in [vec![input], vec![input, Digest::EMPTY]] {
        let missing = Failure {
            code: Code::FailedPrecondition as i32,
            missing: blobs.into_iter().map(Into::into).collect(),
            ..Failure::default()
        };
        let run = liar.run().await.run;
        liar.fail(run, missing).await;
    }
    liar.run_to(4).await;
    operations.ends_with(4).await;
}

#[tokio::test]
async fn a_result_names_the_worker_that_sent_it() {
    let (_server, client) = coordinator(quick()).await;
    let mut liar = Fake::join(&client, "liar", 1).await;
    let operations = client.begin("true").await;
    let run = liar.run().await.run;
    let metadata = ExecutedActionMetadata {
        worker: "another".to_owned(),
        ..ExecutedActionMetadata::default()
    };
    let result = ActionResult {
        execution_metadata: Some(metadata),
        ..ActionResult::default()
    };
    liar.result(run, &result).await;
    let metadata = operations.result().await.execution_metadata.unwrap();
    assert_eq!(metadata.worker, "liar");
}

#[tokio::test]
async fn a_second_done_is_a_lie() {
    let (_server, client) = coordinator(quick()).await;
    let mut liar = Fake::join(&client, "liar", 2).await;
    let operations = client.begin("true").await;
    let run = liar.run().await;
    liar.done(run.run, 0).await;
    operations.end().await;
    liar.done(run.run, 1).await;
    assert_eq!(liar.refused().await.code(), Code::InvalidArgument);
}

/// Makes so many digests of that many bytes, all different.
fn blobs(count: u64, from: u64, length: usize) -> Blobs {
    let digest = |number: u64| protocol::Digest {
        hash: [number.to_be_bytes(); 4].concat()[..length].to_vec(),
        size: 1,
    };
    Blobs {
        blobs: (from..from + count).map(digest).collect(),
    }
}

#[tokio::test]
async fn lies_about_blobs_and_itself() {
    let (_server, client) = coordinator(quick()).await;
    let (invalid, exhausted) = (Code::InvalidArgument, Code::ResourceExhausted);
    let most = 1 << 16;
    let gained = |count, from| Event::Gained(blobs(count, from, 32));
    let all = (0..5).map(|part| gained(most, part << 16)).collect();
    for (events, code, why) in [
        (
            vec![Event::Hello(hello("again", 1))],
            invalid,
            "second Hello",
        ),
        (
            vec![Event::Gained(blobs(1, 0, 31))],
            invalid,
            "not a SHA-256",
        ),
        (vec![gained(most + 1, 0)], exhausted, "in a message"),
        (all, exhausted, "more than 262144"),
        (
            vec![Event::Dropped(blobs(250_000, 0, 32))],
            Code::OutOfRange,
            "too large",
        ),
    ] {
        let lie = async |liar: &Fake, _| {
            for event in events {
                liar.say(event).await;
            }
        };
        refused(&client, lie, code, why).await;
    }
}

#[tokio::test]
async fn a_bad_hello_is_refused() {
    let (server, client) = coordinator(FarmConfig::default()).await;
    let address = |address: &str| Hello {
        address: address.to_owned(),
        ..hello("a", 1)
    };
    let with_properties = |properties| Hello {
        properties,
        ..hello("a", 1)
    };
    let no_blob = Hello {
        holds: Some(blobs(1, 0, 0)),
        ..hello("a", 1)
    };
    for bad in [
        hello("a", 0),
        hello("a", 1025),
        hello(&"a".repeat(257), 1),
        with_properties(vec![Property::default(); 65]),
        with_properties(vec![Property {
            name: "a".to_owned(),
            value: "a".repeat(257),
        }]),
        address("file:///etc"),
        address("10.0.0.1:77"),
        no_blob,
    ] {
        let mut worker = Fake::connect(&client).await;
        worker.say(Event::Hello(bad.clone())).await;
        let code = worker.refused().await.code();
        assert_eq!(code, Code::InvalidArgument, "{bad:?}");
    }
    let mut worker = Fake::connect(&client).await;
    worker.say(Event::Alive(Alive {})).await;
    let refused = worker.refused().await;
    assert!(refused.message().contains("not Hello"), "{refused:?}");
    // A worker that sends nothing at all.
    let mut worker = Fake::connect(&client).await;
    tokio::time::pause();
    assert_eq!(worker.refused().await.code(), Code::DeadlineExceeded);
    assert!(server.farm().snapshot().workers.is_empty());
}

#[test]
fn a_message_of_a_million_digests_is_larger_than_messages_may_be() {
    let blobs = blobs(1_000_000, 0, 32);
    assert!(blobs.encoded_len() > filch_build::cache::MAX_MESSAGE);
}
