//! Workers that come, fail and go.

use std::time::Duration;

use filch_build::digest::Digest;
use filch_build::farm::FarmConfig;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::to_worker::Order;
use filch_build::protocol::{Alive, Failure, Leaving};
use tonic::Code;

use super::fake::{Fake, holder, holds};
use super::quick;
use crate::client::{coordinator, soon};

#[tokio::test]
async fn a_lost_workers_action_ends_on_another_one() {
    let (server, client) = coordinator(quick()).await;
    let mut first = Fake::join(&client, "first", 1).await;
    let operations = client.begin("true").await;
    first.run().await;
    let mut second = Fake::join(&client, "second", 1).await;
    drop(first);
    second.run_to(0).await;
    operations.ends_with(0).await;
    let actions = server.farm().snapshot().actions;
    assert_eq!((actions.succeeded, actions.retried), (1, 1));
}

#[tokio::test]
async fn an_action_that_kills_its_workers_fails_and_names_them() {
    let (_server, client) = coordinator(quick()).await;
    let operations = client.begin("kill").await;
    for name in ["ann", "bob", "cleo"] {
        let mut worker = Fake::join(&client, name, 1).await;
        worker.run().await;
    }
    let failure = operations.failure(Code::Internal).await;
    for name in ["3 workers", "ann", "bob", "cleo"] {
        assert!(failure.message.contains(name), "{}", failure.message);
    }
}

#[tokio::test]
async fn elsewhere_is_another_worker_or_the_same_one_after_a_pause() {
    let (_server, client) = coordinator(quick()).await;
    let mut sick = Fake::join(&client, "sick", 4).await;
    let operations = client.begin("true").await;
    let full = Failure {
        code: Code::Internal as i32,
        message: "the disk is full".to_owned(),
        elsewhere: true,
        ..Failure::default()
    };
    for _ in 0..2 {
        let run = sick.run().await;
        sick.fail(run.run, full.clone()).await;
    }
    sick.run_to(6).await;
    operations.ends_with(6).await;

    // If one worker pauses for long, the other gets the action.
    let (_server, client) = coordinator(FarmConfig {
        pause: Duration::from_secs(1000),
        ..quick()
    })
    .await;
    let mut sick = Fake::join(&client, "sick", 4).await;
    let operations = client.begin("true").await;
    let run = sick.run().await;
    sick.fail(run.run, full).await;
    let mut well = Fake::join(&client, "well", 1).await;
    well.run_to(0).await;
    operations.end().await;
}

#[tokio::test]
async fn a_worker_has_as_many_actions_as_slots() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 2).await;
    let mut waiting = Vec::new();
    for number in 0..5 {
        waiting.push(client.begin(&format!("exit {number}")).await);
    }
    let mut runs = vec![worker.run().await.run, worker.run().await.run];
    let snapshot = server.farm().snapshot();
    assert_eq!(snapshot.waiting, 3);
    assert_eq!(snapshot.workers[0].running.len(), 2);
    let command = &snapshot.workers[0].running[0].command;
    assert!(command.starts_with("/bin/sh -c exit"), "{command}");
    for _ in 0..3 {
        worker.done(runs.remove(0), 0).await;
        runs.push(worker.run().await.run);
    }
    for run in runs {
        worker.done(run, 0).await;
    }
    for operations in waiting {
        operations.end().await;
    }
}

#[tokio::test]
async fn a_worker_that_leaves_ends_what_it_runs() {
    let (_server, client) = coordinator(quick()).await;
    let mut leaver = Fake::join(&client, "leaver", 2).await;
    let one = client.begin("exit 1").await;
    let run = leaver.run().await;
    leaver.say(Event::Leaving(Leaving {})).await;
    // When the second message has been taken, so has the first.
    leaver.say(Event::Alive(Alive {})).await;
    let mut stayer = Fake::join(&client, "stayer", 1).await;
    let two = client.begin("exit 2").await;
    stayer.run_to(2).await;
    two.ends_with(2).await;
    leaver.done(run.run, 1).await;
    one.ends_with(1).await;
    leaver.gone().await;
}

#[tokio::test]
async fn a_coordinator_that_ends_lets_workers_end_what_they_run() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::join(&client, "a", 1).await;
    let one = client.begin("exit 1").await;
    let two = client.begin("exit 2").await;
    let run = worker.run().await;
    let ended = tokio::spawn(server.shutdown());
    assert!(matches!(worker.order().await, Order::Leave(_)));
    worker.done(run.run, 1).await;
    worker.gone().await;
    let (one, two) = (one.end().await, two.end().await);
    let codes = [one, two].map(|response| response.status.unwrap_or_default().code);
    assert!(
        codes.contains(&0) && codes.contains(&(Code::Unavailable as i32)),
        "{codes:?}"
    );
    soon(ended).await.unwrap();
}

#[tokio::test]
async fn a_worker_that_has_the_input_gets_the_action() {
    let (_server, client) = coordinator(FarmConfig {
        near_size: 1,
        patience: Duration::from_secs(1000),
        ..quick()
    })
    .await;
    let input = client.put("an input").await;
    let mut far = Fake::join(&client, "far", 1).await;
    let near = holder("near", "127.0.0.1:1", &[input]);
    let mut near = Fake::greet(&client, near).await;
    let with_input = async |script: &str| {
        let action = client.script(script, &[("input", input)], &[]).await;
        client.execute(action).await
    };
    for exit_code in 1..4 {
        let operations = with_input(&format!("exit {exit_code}")).await;
        let run = near.run().await;
        assert_eq!(run.sources, [], "it has it itself");
        near.done(run.run, exit_code).await;
        operations.ends_with(exit_code).await;
    }
    // An action that no worker is near to goes to any worker, at once.
    let busy = with_input("exit 9").await;
    let keeps = near.run().await;
    let operations = client.begin("true").await;
    far.run_to(0).await;
    operations.end().await;
    // Without the dropped blob, the worker is no longer near.
    near.done(keeps.run, 0).await;
    busy.end().await;
    near.say(Event::Dropped(holds(&[input]))).await;
    near.say(Event::Leaving(Leaving {})).await;
    near.gone().await;
    let operations = with_input("exit 8").await;
    far.run_to(0).await;
    operations.end().await;
}

#[tokio::test]
async fn a_worker_is_told_who_has_the_inputs() {
    let (_server, client) = coordinator(quick()).await;
    let input = client.put("an input").await;
    let holder = holder("holder", "10.0.0.1:77", &[input, Digest::EMPTY]);
    let mut holder = Fake::greet(&client, holder).await;
    let busy = client.begin("exit 1").await;
    let keeps = holder.run().await;
    let mut worker = Fake::join(&client, "worker", 1).await;
    let action = client.script("cat input", &[("input", input)], &[]).await;
    let operations = client.execute(action).await;
    let run = worker.run().await;
    assert_eq!(run.sources.len(), 1);
    assert_eq!(run.sources[0].address, "http://10.0.0.1:77");
    worker.done(run.run, 0).await;
    operations.end().await;
    holder.done(keeps.run, 0).await;
    busy.end().await;
}

#[tokio::test]
async fn silence_is_death() {
    let (server, client) = coordinator(FarmConfig {
        silence: Duration::from_secs(10),
        ..quick()
    })
    .await;
    let mut silent = Fake::join(&client, "silent", 1).await;
    let operations = client.begin("true").await;
    silent.run().await;
    // From now on time passes when nothing else can happen.
    tokio::time::pause();
    let refused = silent.refused().await;
    assert_eq!(refused.code(), Code::DeadlineExceeded);
    tokio::time::resume();
    assert!(server.farm().snapshot().workers.is_empty());
    let mut other = Fake::join(&client, "other", 1).await;
    other.run_to(0).await;
    operations.end().await;
}
