//! Steps by hand. Their schedulers need real threads, or an exploration around them.
#![cfg(not(shuttle))]

mod among_others;
mod calls;

use std::sync::{Arc, Mutex};

use filch_actors::Caller;
use filch_scheduler::{
    Context, Event, Events, ExitReason, InitError, Pid, Process, ProcessError, Protocol, StepOutput,
};
use filch_testing::{ProcessTest, StepStatus, WhyNoStep};

enum Shop {}

enum Message {
    Price(String),
    Ask(String, Caller<u64>),
    Watch(Pid),
}

impl Protocol for Shop {
    type Input = Pid;
    type Message = Message;
    type Command = &'static str;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// The calls to a process that others cannot see.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, text: impl ToString) {
        self.0.lock().unwrap().push(text.to_string());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

type Script = fn(&Context<'_, Shop>, Event<Shop>, &mut StepOutput<Shop>) -> Result<(), String>;

/// A process that handles each event by a function, and keeps a log.
struct Scripted {
    script: Script,
    peer: Option<Pid>,
    log: Log,
}

impl Scripted {
    fn new(script: Script) -> Self {
        let (peer, log) = (None, Log::default());
        Self { script, peer, log }
    }
}

fn scripted(script: Script) -> (ProcessTest<Shop, Scripted>, Log) {
    let process = Scripted::new(script);
    let log = process.log.clone();
    (ProcessTest::new(process), log)
}

/// As [`scripted`], but begun, with itself as its peer.
fn begun(script: Script) -> (ProcessTest<Shop, Scripted>, Log) {
    let (mut test, log) = scripted(script);
    let pid = test.pid();
    test.init("run", pid).unwrap();
    (test, log)
}

impl Process<Shop> for Scripted {
    fn init(
        &mut self,
        _: &Context<'_, Shop>,
        method: &str,
        peer: Pid,
    ) -> Result<(), InitError<Shop>> {
        if method != "run" {
            return Err(InitError::unknown_method(method, &["run"]));
        }
        self.peer = Some(peer);
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Shop>,
        events: Events<'_, Shop>,
        out: &mut StepOutput<Shop>,
    ) -> Result<(), String> {
        for event in events {
            (self.script)(context, event, out)?;
        }
        Ok(())
    }

    fn close(&mut self, reason: &ExitReason) {
        self.log.note(reason);
    }
}

fn price(of: &str) -> Event<Shop> {
    Event::Message(Message::Price(of.to_owned()))
}

fn completed(tag: u64, reply: u64) -> Event<Shop> {
    let result = Ok(reply);
    Event::Completed { tag, result }
}

// ANCHOR: process
/// Looks up the price of each thing, and is done with the first that comes.
fn look_up(
    _: &Context<'_, Shop>,
    event: Event<Shop>,
    out: &mut StepOutput<Shop>,
) -> Result<(), String> {
    match event {
        Event::Message(Message::Price(of)) => {
            out.yield_command(of.len() as u64, "look up");
            out.wait();
        }
        Event::Completed { result, .. } => out.done(result.map_err(|error| error.to_string())?),
        _ => {}
    }
    Ok(())
}
// ANCHOR_END: process

// ANCHOR: steps
#[test]
fn commands_have_tags_and_are_completed_by_events() {
    let (mut test, log) = begun(look_up);
    let step = test.step([]).unwrap();
    assert!(step.commands.is_empty() && step.opened.is_empty());
    assert!(matches!(step.status, StepStatus::Idle), "{step:?}");
    let step = test.step([price("tea"), price("bread")]).unwrap();
    assert_eq!(step.commands, [(3, "look up"), (5, "look up")]);
    assert!(matches!(step.status, StepStatus::Wait), "{step:?}");
    assert!(log.take().is_empty());
    let step = test.step([completed(5, 120)]).unwrap();
    assert!(matches!(step.status, StepStatus::Done(120)), "{step:?}");
    assert_eq!(log.take(), ["done"]);
    assert_eq!(test.step([]).unwrap_err().reason, WhyNoStep::Over);
    drop(test);
    assert!(log.take().is_empty(), "closed twice");
}
// ANCHOR_END: steps

#[test]
fn steps_that_no_worker_would_take_are_refused_with_their_events() {
    let (mut test, _) = scripted(look_up);
    let refused = test.step([price("tea")]).unwrap_err();
    assert_eq!(refused.reason, WhyNoStep::NotStarted);
    let pid = test.pid();
    test.init("run", pid).unwrap();
    test.step([]).unwrap();
    assert_eq!(test.step([]).unwrap_err().reason, WhyNoStep::NoEvent);
    let refused = test.step([completed(3, 1)]).unwrap_err();
    assert_eq!(refused.reason, WhyNoStep::NotOutstanding { tag: 3 });
    test.step([price("tea")]).unwrap();
    let refused = test.step([price("bread")]).unwrap_err();
    assert_eq!(refused.reason, WhyNoStep::Waits);
    // One command is completed once.
    let twice = test.step([completed(3, 1), completed(3, 1)]).unwrap_err();
    assert_eq!(twice.reason, WhyNoStep::NotOutstanding { tag: 3 });
    // It takes the step with the completion that it waits for, and no event was lost.
    let step = test.step(refused.events.into_iter().chain([completed(3, 1)]));
    assert_eq!(step.unwrap().commands, [(5, "look up")]);
}

#[test]
fn ends_are_told_to_close_as_a_scheduler_tells_them() {
    let (mut test, log) = begun(|_, _, out| {
        out.yield_command(1, "is forgotten");
        Err("out of tea".to_owned())
    });
    let step = test.step([price("tea")]).unwrap();
    let StepStatus::Failed(ProcessError::Failed(error)) = step.status else {
        panic!("{step:?}");
    };
    assert_eq!(error, "out of tea");
    assert!(step.commands.is_empty());
    assert_eq!(log.take(), ["failed: out of tea"]);

    let (mut test, log) = begun(|_, _, _| panic!("the cup is broken"));
    let step = test.step([price("tea")]).unwrap();
    let is_panicked =
        |error: &_| matches!(error, ProcessError::Panicked(text) if text == "the cup is broken");
    assert!(matches!(&step.status, StepStatus::Failed(error) if is_panicked(error)));
    assert_eq!(log.take(), ["panicked: the cup is broken"]);

    let (mut test, log) = begun(|_, _, out| {
        out.wait();
        Ok(())
    });
    let step = test.step([price("tea")]).unwrap();
    let StepStatus::Failed(ProcessError::WaitsForNothing) = step.status else {
        panic!("{step:?}");
    };
    assert_eq!(log.take().len(), 1);

    let (mut test, log) = scripted(look_up);
    let pid = test.pid();
    assert!(matches!(
        test.init("walk", pid),
        Err(InitError::UnknownMethod { .. })
    ));
    assert_eq!(log.take().len(), 1);

    let (mut test, log) = begun(look_up);
    test.terminate().unwrap();
    assert_eq!(log.take(), ["terminated"]);
    drop(begun(look_up));
    assert!(test.process().peer.is_some());
}
