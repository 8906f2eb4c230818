//! Several platforms in one farm, and what an action takes of a worker.

use std::time::Duration;

use filch_build::farm::FarmConfig;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::{Alive, Hello, Leaving, Property};
use filch_build::reapi::{self, Action, Platform};
use tonic::Code;

use super::fake::{Fake, hello};
use super::quick;
use crate::client::{Client, Operations, coordinator, sh};
use crate::workers::together::until;

/// Makes the greeting of a worker with two slots and these properties.
fn platform(name: &str, properties: &[(&str, &str)]) -> Hello {
    let property = |&(name, value): &(&str, &str)| Property {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    Hello {
        properties: properties.iter().map(property).collect(),
        ..hello(name, 2)
    }
}

const LINUX: &[(&str, &str)] = &[("OSFamily", "linux"), ("libc", "musl"), ("libc", "glibc")];
const MACOS: &[(&str, &str)] = &[("OSFamily", "macos")];

/// Begins to run a script on that platform.
async fn begin(client: &Client, script: &str, asks: &[(&str, &str)]) -> Operations {
    let property = |&(name, value): &(&str, &str)| reapi::platform::Property {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let properties = asks.iter().map(property).collect();
    let action = Action {
        platform: Some(Platform { properties }),
        ..Action::default()
    };
    let action = client.action(&sh(script), &[], action).await;
    client.execute(action).await
}

/// Checks that the worker has got no action: it answers the next message after that.
async fn gets_nothing(worker: &mut Fake) {
    worker.say(Event::Leaving(Leaving {})).await;
    worker.gone().await;
}

#[tokio::test]
async fn an_action_runs_on_its_platform_alone() {
    let (server, client) = coordinator(quick()).await;
    let mut linux = Fake::greet(&client, platform("linux", LINUX)).await;
    let mut macos = Fake::greet(&client, platform("macos", MACOS)).await;
    // More than the workers of the platform have room for, while the other one idles.
    let mut waiting = Vec::new();
    for number in 0..6 {
        let asks = [("OSFamily", "linux"), ("libc", "glibc")];
        waiting.push(begin(&client, &format!("exit {number}"), &asks).await);
    }
    until(&server, |farm| farm.waiting == 4).await;
    for _ in 0..6 {
        linux.run_to(7).await;
    }
    for operations in waiting {
        operations.ends_with(7).await;
    }
    let operations = begin(&client, "true", MACOS).await;
    macos.run_to(8).await;
    operations.ends_with(8).await;
    gets_nothing(&mut linux).await;
    gets_nothing(&mut macos).await;
}

#[tokio::test]
async fn what_no_worker_fits_is_refused_at_once() {
    let (_server, client) = coordinator(quick()).await;
    let _linux = Fake::greet(&client, platform("linux", LINUX)).await;
    let _macos = Fake::greet(&client, platform("macos", MACOS)).await;
    for asks in [
        &[("OSFamily", "windows")][..],
        &[("OSFamily", "Linux")],
        &[("OSFamily", "linux"), ("OSFamily", "macos")],
        &[("container-image", "docker://gcc:14")],
        &[("OSFamily", "macos"), ("libc", "musl")],
        &[("cpu_count", "3")],
    ] {
        let operations = begin(&client, "true", asks).await;
        let failure = operations.failure(Code::FailedPrecondition).await;
        let (name, value) = asks[0];
        for part in [
            &format!("{name}={value}"),
            "libc=musl",
            "OSFamily=macos 2 CPUs",
        ] {
            let part = if name == "cpu_count" && part.contains("cpu_count") {
                "asks for 3 CPUs"
            } else {
                part
            };
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert!(failure.details.is_empty(), "no blob is missing");
    }
    let wrong = begin(&client, "true", &[("cpus", "many")]).await;
    let wrong = wrong.failure(Code::InvalidArgument).await;
    assert!(wrong.message.contains("cpus=many"), "{}", wrong.message);
}

#[tokio::test]
async fn a_container_image_that_a_worker_announces_is_taken() {
    let (_server, client) = coordinator(quick()).await;
    let image = [("container-image", "docker://gcc:14")];
    let mut worker = Fake::greet(&client, platform("gcc", &image)).await;
    let operations = begin(&client, "true", &image).await;
    worker.run_to(0).await;
    operations.ends_with(0).await;
}

#[tokio::test]
async fn an_action_waits_for_a_platform_that_is_expected_or_was_here_a_moment_ago() {
    let named = |properties: &[(&str, &str)]| {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        properties.iter().map(owned).collect()
    };
    let (server, client) = coordinator(FarmConfig {
        platform: vec![named(LINUX)],
        remembered: Duration::from_secs(1000),
        ..quick()
    })
    .await;
    let waits = begin(&client, "exit 1", &[("OSFamily", "linux")]).await;
    until(&server, |farm| farm.waiting == 1).await;
    let refused = begin(&client, "exit 2", MACOS).await;
    refused.failure(Code::FailedPrecondition).await;
    let mut macos = Fake::greet(&client, platform("macos", MACOS)).await;
    gets_nothing(&mut macos).await;
    until(&server, |farm| farm.workers.is_empty()).await;
    let remembered = begin(&client, "exit 3", MACOS).await;
    until(&server, |farm| farm.waiting == 2).await;
    let mut linux = Fake::greet(&client, platform("linux", LINUX)).await;
    linux.run_to(1).await;
    waits.ends_with(1).await;
    let mut macos = Fake::greet(&client, platform("macos", MACOS)).await;
    macos.run_to(3).await;
    remembered.ends_with(3).await;
    // It is known now what a worker of the expected platform has.
    let large = begin(&client, "exit 4", &[("OSFamily", "linux"), ("cpus", "3")]).await;
    large.failure(Code::FailedPrecondition).await;
}

#[tokio::test]
async fn an_action_is_refused_when_its_platform_is_forgotten() {
    let (_server, client) = coordinator(quick()).await;
    let mut linux = Fake::greet(&client, platform("linux", LINUX)).await;
    let _macos = Fake::greet(&client, platform("macos", MACOS)).await;
    let runs = begin(&client, "exit 1", &[("OSFamily", "linux")]).await;
    linux.run().await;
    drop(linux);
    let failure = runs.failure(Code::FailedPrecondition).await;
    assert!(failure.message.contains("macos"), "{}", failure.message);
}

#[tokio::test]
async fn the_actions_of_a_kind_that_is_gone_go_to_another_that_fits() {
    let (server, client) = coordinator(quick()).await;
    let first = Fake::greet(&client, platform("first", LINUX)).await;
    let mut waiting = Vec::new();
    for number in 0..5 {
        waiting.push(begin(&client, &format!("exit {number}"), &LINUX[..1]).await);
    }
    until(&server, |farm| farm.waiting == 3).await;
    let other = [LINUX, &[("gpu", "none")]].concat();
    let mut other = Fake::greet(&client, platform("other", &other)).await;
    drop(first);
    for _ in 0..5 {
        other.run_to(6).await;
    }
    for operations in waiting {
        operations.ends_with(6).await;
    }
}

#[tokio::test]
async fn an_action_that_waits_behind_others_goes_to_a_worker_that_is_free() {
    let (server, client) = coordinator(quick()).await;
    let mut busy = Fake::greet(&client, large("busy")).await;
    let larger = Hello {
        milli_cpus: 8000,
        ..large("free")
    };
    let mut free = Fake::greet(&client, larger).await;
    let eight = begin(&client, "exit 8", &[("cpus", "8")]).await;
    let eight_run = free.run().await.run;
    let four = begin(&client, "exit 4", &[("cpus", "4")]).await;
    let four_run = busy.run().await.run;
    // Either worker may have it, when it is free.
    let last = begin(&client, "exit 1", &[]).await;
    until(&server, |farm| farm.waiting == 1).await;
    free.done(eight_run, 8).await;
    eight.ends_with(8).await;
    free.run_to(1).await;
    last.ends_with(1).await;
    busy.done(four_run, 4).await;
    four.ends_with(4).await;
    gets_nothing(&mut busy).await;
}

#[tokio::test]
async fn an_action_that_waited_for_room_begins_where_it_went_and_nowhere_else() {
    let (server, client) = coordinator(quick()).await;
    let mut busy = Fake::greet(&client, large("busy")).await;
    let one = begin(&client, "exit 1", &[]).await;
    let run = busy.run().await.run;
    let four = begin(&client, "exit 4", &[("cpus", "4")]).await;
    until(&server, |farm| farm.waiting == 1).await;
    let larger = Hello {
        milli_cpus: 8000,
        ..large("comes")
    };
    let mut comes = Fake::greet(&client, larger).await;
    let elsewhere = comes.run().await.run;
    busy.done(run, 1).await;
    one.ends_with(1).await;
    gets_nothing(&mut busy).await;
    comes.done(elsewhere, 4).await;
    four.ends_with(4).await;
}

#[tokio::test]
async fn a_pool_whose_workers_leave_sends_back_what_has_not_begun() {
    let (server, client) = coordinator(quick()).await;
    let mut leaver = Fake::join(&client, "leaver", 1).await;
    let one = begin(&client, "exit 1", &[]).await;
    let run = leaver.run().await.run;
    let two = begin(&client, "exit 2", &[]).await;
    until(&server, |farm| farm.waiting == 1).await;
    leaver.say(Event::Leaving(Leaving {})).await;
    let mut other = Fake::greet(&client, large("other")).await;
    other.run_to(2).await;
    two.ends_with(2).await;
    leaver.done(run, 1).await;
    one.ends_with(1).await;
}

#[tokio::test]
async fn a_worker_of_another_instance_gets_no_work() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::connect(&client).await;
    let elsewhere = Hello {
        instance: "elsewhere".to_owned(),
        ..hello("a", 1)
    };
    worker.say(Event::Hello(elsewhere)).await;
    let refused = worker.refused().await;
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("instance"), "{refused:?}");
    assert!(server.farm().snapshot().workers.is_empty());
}

/// Makes the greeting of a worker with four slots, four CPUs and a hundred bytes.
fn large(name: &str) -> Hello {
    Hello {
        milli_cpus: 4000,
        memory: 100,
        ..hello(name, 4)
    }
}

#[tokio::test]
async fn a_large_action_shares_its_worker_with_nothing_and_does_not_starve() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::greet(&client, large("a")).await;
    let one = begin(&client, "exit 1", &[]).await;
    let two = begin(&client, "exit 2", &[("EstimatedCPU", "1500m")]).await;
    let running = [worker.run().await.run, worker.run().await.run];
    let four = begin(&client, "exit 4", &[("cpus", "4")]).await;
    until(&server, |farm| farm.waiting == 1).await;
    let small = begin(&client, "exit 5", &[]).await;
    until(&server, |farm| farm.waiting == 2).await;
    worker.done(running[0], 1).await;
    one.ends_with(1).await;
    worker.say(Event::Alive(Alive {})).await;
    assert_eq!(server.farm().snapshot().workers[0].running.len(), 1);
    worker.done(running[1], 2).await;
    two.ends_with(2).await;
    let whole = worker.run().await.run;
    assert_eq!(server.farm().snapshot().workers[0].running.len(), 1);
    assert_eq!(server.farm().snapshot().waiting, 1);
    worker.done(whole, 4).await;
    four.ends_with(4).await;
    worker.run_to(5).await;
    small.ends_with(5).await;
}

#[tokio::test]
async fn memory_is_shared_too() {
    let (server, client) = coordinator(quick()).await;
    let mut worker = Fake::greet(&client, large("a")).await;
    let half = [("min-mem", "51")];
    let one = begin(&client, "exit 1", &half).await;
    let first = worker.run().await.run;
    let two = begin(&client, "exit 2", &half).await;
    until(&server, |farm| farm.waiting == 1).await;
    worker.done(first, 1).await;
    one.ends_with(1).await;
    worker.run_to(2).await;
    two.ends_with(2).await;
    let all = begin(&client, "exit 3", &[("EstimatedMemory", "1K")]).await;
    let failure = all.failure(Code::FailedPrecondition).await;
    assert!(failure.message.contains("1 MiB"), "{}", failure.message);
}

#[tokio::test]
async fn an_action_that_waits_for_room_goes_elsewhere_if_its_worker_leaves() {
    let (server, client) = coordinator(quick()).await;
    let mut leaver = Fake::greet(&client, large("leaver")).await;
    let one = begin(&client, "exit 1", &[]).await;
    let run = leaver.run().await.run;
    let four = begin(&client, "exit 4", &[("cpus", "4")]).await;
    until(&server, |farm| farm.waiting == 1).await;
    leaver.say(Event::Leaving(Leaving {})).await;
    let mut other = Fake::greet(&client, large("other")).await;
    other.run_to(4).await;
    four.ends_with(4).await;
    leaver.done(run, 1).await;
    one.ends_with(1).await;
}
