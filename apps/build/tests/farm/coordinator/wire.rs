//! Whatever clients and workers send, the coordinator answers, and goes on.
//!
//! Invariants: each request gets an answer, which is a status or an operation that ends with one;
//! none reports a defect of the coordinator; a worker whose stream has ended is gone; afterwards an
//! honest worker runs the action of an honest client.

use std::sync::LazyLock;

use bazel_remote_apis::google::longrunning::{Operation, operation};
use filch_build::digest::Digest;
use filch_build::protocol::from_worker::Event;
use filch_build::protocol::to_worker::Order;
use filch_build::protocol::{Alive, Done, Failure, FromWorker, Hello, Leaving, ToWorker, done};
use filch_build::reapi::command::EnvironmentVariable;
use filch_build::reapi::{
    Action, ActionResult, Command, Directory, DirectoryNode, ExecuteRequest, ExecuteResponse,
    OutputDirectory, WaitExecutionRequest,
};
use futures_util::stream;
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message as _;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tonic::Status;

use super::fake::{Fake, holder, holds};
use super::quick;
use crate::client::{Client, coordinator, file, soon, with_output};
use crate::messages::{Change, apply, change, check_status, open};

const EXECUTE: &str = "/build.bazel.remote.execution.v2.Execution/Execute";
const WAIT: &str = "/build.bazel.remote.execution.v2.Execution/WaitExecution";
const WORK: &str = "/filch.build.v1.Farm/Work";
/// The text by which the coordinator reports a defect of its own.
const DEFECT: &str = "a defect of the coordinator";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The bytes that are sent in place of a good message.
#[derive(Debug, Clone)]
enum Sent {
    Any(Vec<u8>),
    Changed(Vec<Change>),
}

impl Sent {
    fn instead_of(&self, good: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Any(bytes) => bytes.clone(),
            Self::Changed(changes) => apply(good, changes),
        }
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    prop_oneof![
        1 => vec(any::<u8>(), 0..100).prop_map(Sent::Any),
        4 => vec(change(), 0..3).prop_map(Sent::Changed),
    ]
}

/// Makes an event that a worker may send about a run.
fn event() -> impl Strategy<Value = Event> {
    let run = || prop_oneof![4 => Just(1_u64), 1 => any::<u64>()];
    let result = (run(), sent()).prop_map(|(run, result)| {
        let result = result.instead_of(good_result().encode_to_vec());
        let outcome = Some(done::Outcome::Result(result));
        Event::Done(Done { run, outcome })
    });
    let failure = (run(), -1..20_i32, any::<bool>()).prop_map(|(run, code, elsewhere)| {
        let outcome = Some(done::Outcome::Failure(Failure {
            code,
            elsewhere,
            ..Failure::default()
        }));
        Event::Done(Done { run, outcome })
    });
    prop_oneof![
        3 => result,
        3 => failure,
        1 => run().prop_map(|run| Event::Done(Done { run, outcome: None })),
        1 => Just(Event::Hello(good_hello())),
        1 => Just(Event::Gained(holds(&[Digest::EMPTY]))),
        1 => Just(Event::Dropped(holds(&[Digest::EMPTY]))),
        1 => Just(Event::Leaving(Leaving {})),
        1 => Just(Event::Alive(Alive {})),
    ]
}

fn good_hello() -> Hello {
    let blobs = [Digest::EMPTY, Digest::of(b"a blob")];
    Hello {
        slots: 2,
        ..holder("liar", "127.0.0.1:1", &blobs)
    }
}

fn good_result() -> ActionResult {
    ActionResult {
        output_directories: vec![OutputDirectory {
            path: "folder".to_owned(),
            tree_digest: Some(Digest::EMPTY.into()),
            ..OutputDirectory::default()
        }],
        ..with_output("a/b", Digest::EMPTY)
    }
}

fn from_worker(event: Event) -> Vec<u8> {
    let event = Some(event);
    FromWorker { event }.encode_to_vec()
}

/// Stores an action that is made of these messages, sent in place of good ones.
async fn action(client: &Client, [command, folder, root, action]: &[Sent; 4]) -> Digest {
    let good = Command {
        arguments: vec!["true".to_owned()],
        output_paths: vec!["out".to_owned()],
        environment_variables: vec![EnvironmentVariable::default()],
        ..Command::default()
    };
    let command = client.put(command.instead_of(good.encode_to_vec())).await;
    let good = Directory {
        files: vec![file("file", Digest::EMPTY)],
        ..Directory::default()
    };
    let folder = client.put(folder.instead_of(good.encode_to_vec())).await;
    let good = Directory {
        directories: vec![DirectoryNode {
            name: "folder".to_owned(),
            digest: Some(folder.into()),
        }],
        ..good
    };
    let root = client.put(root.instead_of(good.encode_to_vec())).await;
    let good = Action {
        command_digest: Some(command.into()),
        input_root_digest: Some(root.into()),
        ..Action::default()
    };
    client.put(action.instead_of(good.encode_to_vec())).await
}

/// Sends one message, and returns the answers.
async fn ask(client: &Client, method: &str, message: Vec<u8>) -> Result<Vec<Operation>, Status> {
    let messages = stream::iter([message]);
    let mut answers = open(client.channel.clone(), method, messages).await?;
    let mut operations = Vec::new();
    while let Some(bytes) = soon(answers.message()).await? {
        operations.push(Operation::decode(&bytes[..]).unwrap());
    }
    Ok(operations)
}

/// Checks that the answer is a status, or operations of which the last one has one.
fn check(answer: Result<Vec<Operation>, Status>) -> Result<(), TestCaseError> {
    let operations = match answer {
        Ok(operations) => operations,
        Err(status) => return check_status(&status),
    };
    let last = operations.into_iter().next_back();
    let last = last.and_then(|last| last.result);
    let Some(operation::Result::Response(any)) = last else {
        return Err(TestCaseError::fail(format!("no response: {last:?}")));
    };
    let response = ExecuteResponse::decode(&any.value[..]).unwrap();
    check_response(response)
}

fn check_response(response: ExecuteResponse) -> Result<(), TestCaseError> {
    prop_assert!(response.status.is_some());
    let status = response.status.unwrap_or_default();
    prop_assert!(!status.message.contains(DEFECT), "{}", status.message);
    Ok(())
}

/// Runs the future while an honest worker is there.
async fn with_worker<T>(client: &Client, future: impl Future<Output = T>) -> T {
    let mut honest = Fake::join(client, "honest", 2).await;
    let work = async {
        loop {
            if let Order::Run(run) = honest.order().await {
                honest.done(run.run, 0).await;
            }
        }
    };
    tokio::select! {
        () = work => unreachable!(),
        value = future => value,
    }
}

/// Checks that an honest client gets its result.
async fn honest(client: &Client) {
    client.begin("an honest action").await.ends_with(0).await;
}

async fn executes(messages: [Sent; 4], request: Sent) -> Result<(), TestCaseError> {
    let (_server, client) = coordinator(quick()).await;
    let good = ExecuteRequest {
        action_digest: Some(action(&client, &messages).await.into()),
        ..ExecuteRequest::default()
    };
    let request = request.instead_of(good.encode_to_vec());
    with_worker(&client, async {
        check(ask(&client, EXECUTE, request).await)?;
        honest(&client).await;
        Ok(())
    })
    .await
}

async fn waits(request: Sent) -> Result<(), TestCaseError> {
    let (_server, client) = coordinator(quick()).await;
    let mut operations = client.begin("true").await;
    let good = WaitExecutionRequest {
        name: operations.next().await.name,
    };
    let request = request.instead_of(good.encode_to_vec());
    with_worker(&client, async {
        check(ask(&client, WAIT, request).await)?;
        check_response(operations.end().await)?;
        honest(&client).await;
        Ok(())
    })
    .await
}

async fn works(hello: Sent, events: Vec<(Event, Sent)>) -> Result<(), TestCaseError> {
    let (server, client) = coordinator(quick()).await;
    let operations = client.begin("true").await;
    let (say, said) = mpsc::channel(64);
    let said = stream::unfold(said, async |mut said| Some((said.recv().await?, said)));
    let mut orders = open(client.channel.clone(), WORK, said).await.unwrap();
    let good = from_worker(Event::Hello(good_hello()));
    say.send(hello.instead_of(good)).await.unwrap();
    let mut say = Some(say);
    let ended = loop {
        match soon(orders.message()).await {
            Ok(Some(order)) => {
                let run = ToWorker::decode(&order[..]).unwrap().order;
                if matches!(run, Some(Order::Run(_)))
                    && let Some(say) = say.take()
                {
                    for (event, sent) in &events {
                        let message = sent.instead_of(from_worker(event.clone()));
                        // The coordinator may have closed the stream.
                        if say.send(message).await.is_err() {
                            break;
                        }
                    }
                }
            }
            Ok(None) => break Ok(()),
            Err(status) => break Err(status),
        }
    };
    if let Err(status) = ended {
        prop_assert!(!status.message().contains(DEFECT), "{}", status);
    }
    prop_assert!(server.farm().snapshot().workers.is_empty());
    with_worker(&client, async {
        check_response(operations.end().await)?;
        honest(&client).await;
        Ok(())
    })
    .await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_request_to_execute_is_answered(
        messages in [sent(), sent(), sent(), sent()],
        request in sent(),
    ) {
        RUNTIME.block_on(executes(messages, request))?;
    }

    #[test]
    fn any_request_to_wait_is_answered(request in sent()) {
        RUNTIME.block_on(waits(request))?;
    }

    #[test]
    fn whatever_a_worker_says_others_go_on(
        hello in sent(),
        events in vec((event(), sent()), 0..6),
    ) {
        RUNTIME.block_on(works(hello, events))?;
    }
}

/// The good messages are accepted, so the changed ones are close to good ones.
#[test]
fn good_messages_run() {
    let good = || Sent::Changed(Vec::new());
    RUNTIME.block_on(async {
        let (_server, client) = coordinator(quick()).await;
        let action = action(&client, &[good(), good(), good(), good()]).await;
        let mut worker = Fake::greet(&client, good_hello()).await;
        let operations = client.execute(action).await;
        let run = worker.run().await;
        worker.result(run.run, &good_result()).await;
        assert_eq!(operations.end().await.result, Some(good_result()));
    });
}
