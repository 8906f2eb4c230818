//! The requests of clients, and their results.

use std::time::{Duration, UNIX_EPOCH};

use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::protocol::to_worker::Order;
use filch_build::protocol::{Failure, Hello, Property};
use filch_build::reapi::execution_stage::Value as Stage;
use filch_build::reapi::{Action, ActionResult, Command, ExecutedActionMetadata};
use filch_build::server::Config;
use tonic::Code;

use super::fake::{Fake, hello};
use super::quick;
use super::turns::ask;
use crate::client::{coordinator, soon, stage};
use crate::server::{start_in, start_with};
use crate::workers::together::until;

#[tokio::test]
async fn stages_come_in_their_order_and_the_result_is_cached() {
    let (_server, client) = coordinator(FarmConfig::default()).await;
    let action = client.script("true", &[], &[]).await;
    let mut operations = client.execute(action).await;
    let first = operations.next().await;
    assert_eq!(stage(&first), Stage::Queued);
    assert!(!first.done && !first.name.is_empty());
    let mut worker = Fake::join(&client, "a", 1).await;
    let run = worker.run().await;
    assert_eq!(Digest::try_from(&run.action.unwrap()).unwrap(), action);
    assert_eq!(run.messages.len(), 3, "the action, the command, the root");
    let second = operations.next().await;
    assert_eq!(stage(&second), Stage::Executing);
    assert_eq!(second.name, first.name);
    worker.done(run.run, 0).await;
    let response = operations.end().await;
    assert!(!response.cached_result);

    let mut again = client.execute(action).await;
    let only = again.next().await;
    assert!(only.done);
    assert!(client.run(action).await.cached_result);
}

#[tokio::test]
async fn a_result_says_when_its_action_came() {
    let (_server, client) = coordinator(quick()).await;
    let action = client.script("true", &[], &[]).await;
    let before = now();
    let operations = client.execute(action).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let run = worker.run().await.run;
    let taken = now();
    let result = ActionResult {
        execution_metadata: Some(ExecutedActionMetadata::default()),
        ..ActionResult::default()
    };
    worker.result(run, &result).await;
    // As it ends, and from the cache.
    for result in [operations.result().await, client.result(action).await] {
        let queued = result.execution_metadata.unwrap().queued_timestamp.unwrap();
        let queued = Duration::new(queued.seconds as u64, queued.nanos as u32);
        assert!((before..=taken).contains(&queued), "{queued:?}");
    }
}

fn now() -> Duration {
    UNIX_EPOCH.elapsed().unwrap()
}

fn volatile() -> Action {
    Action {
        do_not_cache: true,
        ..Action::default()
    }
}

#[tokio::test]
async fn a_result_that_is_not_zero_is_not_cached_nor_one_that_must_not_be() {
    let (_server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let fails = client.script("false", &[], &[]).await;
    let volatile = client.action(&Command::default(), &[], volatile()).await;
    for (action, exit_code) in [(fails, 3), (fails, 3), (volatile, 0), (volatile, 0)] {
        let operations = client.execute(action).await;
        worker.run_to(exit_code).await;
        let response = operations.end().await;
        assert!(!response.cached_result);
        assert_eq!(response.result.unwrap().exit_code, exit_code);
    }
}

#[tokio::test]
async fn equal_actions_share_one_run_unless_they_must_not() {
    let (_server, client) = coordinator(quick()).await;
    let action = client.script("true", &[], &[]).await;
    let mut one = client.execute(action).await;
    let mut other = client.ask(action, true).await.unwrap();
    let (one_name, other_name) = (one.next().await.name, other.next().await.name);
    assert_eq!(one_name, other_name);
    let mut worker = Fake::join(&client, "a", 2).await;
    worker.run_to(7).await;
    one.ends_with(7).await;
    other.ends_with(7).await;

    let alone = client.action(&Command::default(), &[], volatile()).await;
    let mut asked = Vec::new();
    for _ in 0..2 {
        let operations = soon(client.ask(alone, false)).await.unwrap();
        asked.push((worker.run().await.run, operations));
    }
    // The second one ends first, and each with its own result.
    for (exit_code, (run, operations)) in asked.into_iter().enumerate().rev() {
        worker.done(run, exit_code as i32).await;
        operations.ends_with(exit_code as i32).await;
    }
    // One that nobody waits for goes alone.
    let one = client.execute(alone).await;
    let first = worker.run().await;
    let other = client.execute(alone).await;
    let second = worker.run().await;
    drop(one);
    let Order::Cancel(cancel) = worker.order().await else {
        panic!("not Cancel");
    };
    assert_eq!(cancel.run, first.run);
    worker.done(second.run, 5).await;
    other.ends_with(5).await;
}

#[tokio::test]
async fn one_that_cannot_be_run_is_not_pending() {
    let (server, client) = coordinator(quick()).await;
    client
        .execute(Digest::of(b"nowhere"))
        .await
        .failure(Code::FailedPrecondition)
        .await;
    assert_eq!(server.farm().snapshot().builds[0].pending, 0);
}

#[tokio::test]
async fn what_is_missing_is_named_as_clients_expect() {
    let (_server, client) = coordinator(FarmConfig::default()).await;
    let nowhere = Digest::of(b"nowhere");
    let precondition = Code::FailedPrecondition;
    client.execute(nowhere).await.failure(precondition).await;

    let input = Digest::of(b"an input that was not sent");
    let action = client.script("cat input", &[("input", input)], &[]).await;
    let failure = client.execute(action).await.failure(precondition).await;
    let detail = &failure.details[0];
    let kind = "type.googleapis.com/google.rpc.PreconditionFailure";
    assert_eq!(detail.type_url, kind);
    let mut expected = vec![0x0a, 0];
    for (tag, text) in [(0x0a, "MISSING"), (0x12, &format!("blobs/{input}"))] {
        expected.extend([tag, u8::try_from(text.len()).unwrap()]);
        expected.extend(text.as_bytes());
    }
    expected[1] = u8::try_from(expected.len() - 2).unwrap();
    assert_eq!(detail.value, expected);

    client.put("an input that was not sent").await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let operations = client.execute(action).await;
    worker.run_to(0).await;
    operations.end().await;
}

#[tokio::test]
async fn a_client_that_lost_its_connection_finds_its_action_again() {
    let (_server, client) = coordinator(FarmConfig {
        abandoned_after: Duration::from_secs(60),
        ..quick()
    })
    .await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let action = client.script("true", &[], &[]).await;
    let mut operations = client.execute(action).await;
    let name = operations.next().await.name;
    let run = worker.run().await;
    drop(operations);
    let waiting = client.wait(&name).await.unwrap();
    worker.done(run.run, 9).await;
    waiting.ends_with(9).await;
    // The run was over a moment ago.
    client.wait(&name).await.unwrap().ends_with(9).await;
    let unknown = client.wait("nothing").await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

/// Its name holds the action, which runs again.
#[tokio::test]
async fn an_operation_of_an_earlier_life_is_found_by_its_action() {
    let farm = |config: &mut Config| config.farm = quick();
    let first = start_with(farm).await;
    let action = first.script("true", &[], &[]).await;
    let name = first.execute(action).await.next().await.name;
    first.running.shutdown().await;
    let second = start_in(first.folder, farm).await;
    let mut found = second.wait(&name).await.unwrap();
    let mut again = second.wait(&name).await.unwrap();
    assert_eq!(found.next().await.name, again.next().await.name);
    let mut worker = Fake::join(&second, "a", 1).await;
    worker.run_to(0).await;
    found.ends_with(0).await;
    again.ends_with(0).await;
    second.running.shutdown().await;
    let third = start_in(second.folder, farm).await;
    let cached = third.wait(&name).await.unwrap().end().await;
    assert!(cached.cached_result);
    let absent = format!("{}/1/0/1", "0".repeat(64));
    for none in ["", "a/b", &name[..64], &format!("../{name}"), &absent] {
        let unknown = third.wait(none).await.unwrap_err();
        assert_eq!(unknown.code(), Code::NotFound, "{none}");
    }
}

#[tokio::test]
async fn an_action_that_nobody_waits_for_is_cancelled() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let action = client.script("sleep 1000", &[], &[]).await;
    let mut one = client.execute(action).await;
    let mut other = client.execute(action).await;
    let run = worker.run().await;
    one.stage(Stage::Executing).await;
    other.stage(Stage::Executing).await;
    drop(one);
    // The other client still waits. It goes away as well.
    drop(other);
    let Order::Cancel(cancel) = worker.order().await else {
        panic!("not Cancel");
    };
    assert_eq!(cancel.run, run.run);
    // A new request is a new run, though the worker has not ended the old one yet.
    let again = client.execute(action).await;
    let cancelled = Failure {
        code: Code::Cancelled as i32,
        ..Failure::default()
    };
    worker.fail(run.run, cancelled).await;
    let second = worker.run().await;
    assert_ne!(second.run, run.run);
    worker.done(second.run, 5).await;
    again.ends_with(5).await;
    assert_eq!(server.farm().snapshot().waiting, 0);
}

#[tokio::test]
async fn one_that_waits_keeps_the_action_alive() {
    let (_server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let action = client.script("true", &[], &[]).await;
    let one = client.execute(action).await;
    let other = client.execute(action).await;
    let run = worker.run().await;
    drop(one);
    worker.done(run.run, 4).await;
    other.ends_with(4).await;
}

#[tokio::test]
async fn one_that_nobody_waits_for_leaves_the_queue() {
    let (server, client) = coordinator(quick()).await;
    let mut operations = client.begin("true").await;
    operations.next().await;
    drop(operations);
    // Until the server has noticed that the client is gone.
    soon(async {
        while server.farm().snapshot().actions.failed == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(server.farm().snapshot().waiting, 0);
}

#[tokio::test]
async fn what_failed_is_remembered_with_what_it_said() {
    let (server, client) = coordinator(quick()).await;
    let properties = vec![Property {
        name: "OSFamily".to_owned(),
        value: "linux".to_owned(),
    }];
    let hello = Hello {
        properties,
        ..hello("a", 1)
    };
    let mut worker = Fake::greet(&client, hello.clone()).await;
    let text = format!("{} the end", "x".repeat(5000));
    let stderr = client.put(text.clone()).await;
    let operations = ask(&client, "//a:b", "one", 0).await.unwrap();
    let result = ActionResult {
        exit_code: 2,
        stderr_digest: Some(stderr.into()),
        ..ActionResult::default()
    };
    let run = worker.run().await.run;
    worker.result(run, &result).await;
    operations.ends_with(2).await;
    let breaks = ask(&client, "//a:c", "one", 0).await.unwrap();
    let run = worker.run().await.run;
    let broken = Failure {
        code: Code::DeadlineExceeded as i32,
        message: "it took too long".to_owned(),
        ..Failure::default()
    };
    worker.fail(run, broken).await;
    breaks.failure(Code::DeadlineExceeded).await;
    drop(worker);
    until(&server, |farm| {
        farm.lost.len() == 1 && farm.absent.is_empty()
    })
    .await;
    let farm = server.farm().snapshot();
    let [last, first] = &farm.failed[..] else {
        panic!("{:?}", farm.failed);
    };
    assert_eq!((&*first.target, &*first.why), ("Echo //a:b", "exit code 2"));
    assert_eq!(first.stderr, text[text.len() - 2000..]);
    let (name, running) = first.run.as_ref().unwrap();
    assert_eq!((&**name, running.action), ("a", first.action));
    assert!(first.asked <= running.since && running.since <= first.ended);
    assert_eq!(
        (&*last.target, &*last.why),
        ("Echo //a:c", "it took too long")
    );
    assert_eq!((&*last.stderr, &*farm.lost[0].name), ("", "a"));
    let (server, client) = coordinator(FarmConfig {
        remembered: Duration::from_secs(1000),
        ..quick()
    })
    .await;
    drop(Fake::greet(&client, hello).await);
    until(&server, |farm| farm.absent == ["OSFamily=linux 1 CPUs"]).await;
}

#[tokio::test]
async fn failures_of_the_action_come_as_the_worker_says_them() {
    let (_server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let action = client.script("true", &[], &[]).await;
    let operations = client.execute(action).await;
    let run = worker.run().await;
    let failure = Failure {
        code: Code::DeadlineExceeded as i32,
        message: "it took longer than 1 s".to_owned(),
        ..Failure::default()
    };
    worker.fail(run.run, failure).await;
    let failure = operations.failure(Code::DeadlineExceeded).await;
    assert_eq!(failure.message, "it took longer than 1 s");

    let operations = client.execute(action).await;
    let run = worker.run().await;
    let failure = Failure {
        code: Code::FailedPrecondition as i32,
        missing: vec![Digest::of(b"gone").into()],
        ..Failure::default()
    };
    worker.fail(run.run, failure).await;
    let failure = operations.failure(Code::FailedPrecondition).await;
    assert_eq!(failure.details.len(), 1);
}
