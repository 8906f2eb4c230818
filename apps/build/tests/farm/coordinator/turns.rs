//! The order of actions that wait: priorities, and turns of invocations.

use filch_build::reapi::capabilities_client::CapabilitiesClient;
use filch_build::reapi::{
    ExecuteRequest, ExecutionPolicy, GetCapabilitiesRequest, RequestMetadata,
};
use filch_build::server::Running;
use prost::Message as _;
use tonic::metadata::MetadataValue;
use tonic::{Code, Request, Status};

use super::fake::Fake;
use super::quick;
use crate::client::{Client, Operations, coordinator, refused};
use crate::workers::together::until;

/// A farm with one worker, which has one slot.
struct Farm {
    server: Running,
    client: Client,
    worker: Fake,
    /// The actions that wait, in the order in which they were asked for.
    asked: Vec<(String, Operations)>,
}

impl Farm {
    /// Starts one in which two actions are ahead of all others: one runs, one is the worker's next.
    async fn start() -> Self {
        let (server, client) = coordinator(quick()).await;
        let worker = Fake::join(&client, "a", 1).await;
        let mut farm = Self {
            server,
            client,
            worker,
            asked: Vec::new(),
        };
        farm.ask("first", "ahead", 0).await;
        until(&farm.server, |farm| farm.waiting == 0).await;
        farm.ask("second", "ahead", 0).await;
        until(&farm.server, |farm| farm.waiting == 1).await;
        farm
    }

    /// Asks for the action of that name, for that invocation.
    async fn ask(&mut self, name: &str, invocation: &str, priority: i32) {
        let before = self.server.farm().snapshot().waiting;
        let asked = ask(&self.client, name, invocation, priority).await;
        self.asked.push((name.to_owned(), asked.unwrap()));
        if self.asked.len() > 2 {
            until(&self.server, |farm| farm.waiting == before + 1).await;
        }
    }

    /// Ends all actions; returns their names, after the two ahead, as the worker got them.
    async fn order(mut self) -> Vec<String> {
        let mut order = Vec::new();
        for _ in 0..self.asked.len() {
            let run = self.worker.run().await;
            let farm = self.server.farm().snapshot();
            let command = &farm.workers[0].running[0].command;
            order.push(command.rsplit(' ').next().unwrap().to_owned());
            self.worker.done(run.run, 0).await;
        }
        order.split_off(2)
    }
}

/// Asks for the action of that name, as its target, for that invocation.
pub(crate) async fn ask(
    client: &Client,
    name: &str,
    invocation: &str,
    priority: i32,
) -> Result<Operations, Status> {
    let action = client.script(&format!("echo {name}"), &[], &[]).await;
    let mut request = Request::new(ExecuteRequest {
        action_digest: Some(action.into()),
        execution_policy: Some(ExecutionPolicy { priority }),
        ..ExecuteRequest::default()
    });
    let metadata = RequestMetadata {
        tool_invocation_id: format!("{invocation} {name}"),
        correlated_invocations_id: invocation.to_owned(),
        action_mnemonic: "Echo".to_owned(),
        target_id: name.to_owned(),
        ..RequestMetadata::default()
    };
    let metadata = MetadataValue::from_bytes(&metadata.encode_to_vec());
    let header = "build.bazel.remote.execution.v2.requestmetadata-bin";
    request.metadata_mut().insert_bin(header, metadata);
    let stream = client.execution().execute(request).await?.into_inner();
    Ok(Operations { stream })
}

#[tokio::test]
async fn a_lower_priority_number_goes_first() {
    let mut farm = Farm::start().await;
    for (name, priority) in [("low", 1000), ("a", 0), ("urgent", -5), ("b", 0), ("c", 1)] {
        farm.ask(name, "one", priority).await;
    }
    assert_eq!(farm.order().await, ["urgent", "a", "b", "c", "low"]);
}

#[tokio::test]
async fn invocations_take_turns() {
    let mut farm = Farm::start().await;
    for name in ["a1", "a2", "a3", "a4", "a5"] {
        farm.ask(name, "a", 0).await;
    }
    for (name, invocation) in [("b1", "b"), ("b2", "b"), ("c1", "c")] {
        farm.ask(name, invocation, 0).await;
    }
    let order = farm.order().await;
    assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]);
}

#[tokio::test]
async fn an_action_has_the_best_priority_of_those_who_wait_for_it() {
    let mut farm = Farm::start().await;
    farm.ask("shared", "one", 7).await;
    farm.ask("other", "one", 3).await;
    let joined = ask(&farm.client, "shared", "two", -1).await.unwrap();
    farm.ask("late", "one", 0).await;
    assert_eq!(farm.order().await, ["shared", "late", "other"]);
    joined.ends_with(0).await;
}

#[tokio::test]
async fn the_range_of_priorities_is_announced_and_no_other_is_taken() {
    let farm = Farm::start().await;
    let mut capabilities = CapabilitiesClient::new(farm.client.channel.clone());
    let request = GetCapabilitiesRequest::default();
    let said = capabilities.get_capabilities(request).await.unwrap();
    let said = said.into_inner().execution_capabilities.unwrap();
    let range = said.execution_priority_capabilities.unwrap().priorities[0];
    assert_eq!((range.min_priority, range.max_priority), (-1000, 1000));
    for priority in [-1001, 1001, i32::MIN, i32::MAX] {
        let answer = ask(&farm.client, "x", "one", priority).await;
        refused(answer.map(drop), Code::InvalidArgument, "priority");
    }
    assert_eq!(farm.order().await, [""; 0]);
}

#[tokio::test]
async fn a_place_in_the_queue_ends_with_the_wait_for_it() {
    let mut farm = Farm::start().await;
    farm.ask("a", "one", 0).await;
    farm.ask("b", "one", 0).await;
    let (_, left) = farm.asked.remove(2);
    drop(left);
    until(&farm.server, |farm| farm.waiting == 2).await;
    assert_eq!(farm.order().await, ["b"]);
}
