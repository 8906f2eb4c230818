//! The journal's notes of each process: its type, its parent, its calls and those it waits for.

use std::sync::mpsc;
use std::time::Duration;

use filch_actors::Rings;
use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_actors::{CallError, Caller};
use filch_scheduler::{
    Activity, Context, Event, Events, InitError, Pid, Process, ProcessDetails, Protocol, Scheduler,
    StepOutput, Verdict,
};

use crate::common::{Command, Test, handle, scripted, start, until, waiting};
use crate::timers::{SECOND, fake};

fn details<P: Protocol>(scheduler: &Scheduler<P>, pid: Pid) -> ProcessDetails {
    let info = scheduler.info(pid).expect("it lives");
    *info.details.expect("the scheduler keeps a journal")
}

#[test]
fn type_parent_and_commands_are_known() {
    let scheduler = Scheduler::builder()
        .workers(2)
        .handler(handle)
        .observer(filch_actors::Journal::default());
    let scheduler = scheduler.build().unwrap();
    let (give, completions) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let parent = scripted(move |context, events, out| {
        if events.is_empty() {
            tell.send(context.submit(waiting(), "run", 0).unwrap().pid())
                .unwrap();
            (0..2).for_each(|tag| out.yield_command(7 + tag, Command::Give(give.clone())));
        }
        match events.len() {
            0 | 1 => out.wait(),
            _ => out.done(1),
        }
    });
    let parent = scheduler.submit(parent, "run", 0).unwrap().pid();
    let child = told.recv().unwrap();
    let first = completions.recv().unwrap();
    let standstill = scheduler.wait_for_standstill().unwrap();
    let of_parent = details(&scheduler, parent);
    assert_eq!(of_parent.type_name, "actors::common::Scripted");
    assert_eq!(of_parent.parent, None);
    let tags: Vec<u64> = of_parent
        .commands
        .iter()
        .map(|command| command.tag)
        .collect();
    assert_eq!(tags, [7, 8]);
    assert_eq!(details(&scheduler, child).parent, Some(parent));
    let text = standstill.to_string();
    assert!(text.contains("\n    command 7, for "), "{text}");
    assert!(text.contains(&format!("s old, of {parent}")), "{text}");
    assert!(
        scheduler
            .dump()
            .to_string()
            .contains("\n    command 8, for ")
    );
    first.complete(1);
    let tags = |pid| {
        let commands = details(&scheduler, pid).commands;
        commands
            .iter()
            .map(|command| command.tag)
            .collect::<Vec<_>>()
    };
    assert_eq!(tags(parent), [8]);
    let future = scheduler.spawn(async {}).unwrap();
    let pid = future.pid();
    future.join().unwrap();
    assert_eq!(scheduler.info(pid), None);
    let future = scheduler.spawn(std::future::pending::<u16>()).unwrap();
    let of_future = details(&scheduler, future.pid());
    assert!(
        of_future.type_name.contains("Pending<u16>"),
        "{of_future:?}"
    );
    scheduler
        .upgrade(child, Box::new(OfTest(Asker::default())), "run", 0)
        .unwrap();
    scheduler.wait_for_standstill().unwrap();
    assert!(details(&scheduler, child).type_name.ends_with("Asker"));
}

/// A failure: of all that is told of the end, nothing says which process it was.
#[test]
fn a_panic_is_told_with_its_process() {
    let scheduler = Scheduler::builder().handler(handle);
    let scheduler = scheduler.observer(filch_actors::Journal::default());
    let scheduler = scheduler.build().unwrap();
    let panics = scripted(|_, events, out| {
        assert!(events.is_empty(), "wanted by the test");
        out.idle();
    });
    let panics = scheduler.submission(panics, "run", 0).name("clerk");
    let panics = panics.submit().unwrap();
    let pid = panics.pid();
    let ended = scheduler.spawn(scheduler.ended(pid)).unwrap();
    scheduler.wait_for_standstill().unwrap();
    scheduler.send(pid, (0, 0)).unwrap();
    let told = format!(
        "panicked: wanted by the test \
         (in process {pid} `clerk`: actors::common::Scripted, begun at `run`)"
    );
    assert_eq!(ended.join().unwrap().to_string(), told);
    let error = panics.join().unwrap_err().to_string();
    assert_eq!(error, format!("the process {told}"));
}

/// Notes are kept only on request. A failure: details without a journal.
#[test]
fn without_a_journal_nothing_is_kept() {
    let scheduler = crate::common::scheduler(1);
    let process = scheduler.submit(waiting(), "run", 0).unwrap();
    assert_eq!(scheduler.info(process.pid()).unwrap().details, None);
}

enum Calls {}

enum Message {
    /// Call that process, and wait for its answer alone.
    Call(Pid),
    /// Call that process for a second at most.
    CallBriefly(Pid, Timers),
    /// Keep the caller.
    Keep(Caller<u64>),
}

impl Protocol for Calls {
    type Input = u64;
    type Message = Message;
    type Command = ();
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// Calls as it is told, and never answers.
#[derive(Default)]
struct Asker {
    kept: Vec<Caller<u64>>,
}

fn text(answer: Result<u64, CallError<Calls>>) -> Result<u64, String> {
    answer.map_err(|error| error.to_string())
}

impl Process<Calls> for Asker {
    fn init(&mut self, _: &Context<'_, Calls>, _: &str, _: u64) -> Result<(), InitError<Calls>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Calls>,
        events: Events<'_, Calls>,
        out: &mut StepOutput<Calls>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(Message::Call(callee)) => {
                    out.call(context, 7, callee, Message::Keep, text);
                    out.wait();
                }
                Event::Message(Message::CallBriefly(callee, timers)) => {
                    out.call_by(
                        context,
                        7,
                        (timers.now() + SECOND, &timers),
                        callee,
                        Message::Keep,
                        text,
                    );
                    out.wait();
                }
                Event::Message(Message::Keep(caller)) => self.kept.push(caller),
                Event::Completed { .. } => out.idle(),
                _ => out.done(0),
            }
        }
        Ok(())
    }
}

/// A failure: a ring is missed, or one is named without a reason.
#[test]
fn a_ring_of_calls_is_named() {
    let (clock, timers) = fake();
    let scheduler = Scheduler::<Calls>::builder()
        .workers(2)
        .observer(filch_actors::Journal::default());
    let scheduler = scheduler.build().unwrap();
    let asker = || scheduler.submit(Asker::default(), "run", 0).unwrap();
    let [a, b, c, d] = [asker(), asker(), asker(), asker()];
    let call = |from: Pid, to: Pid| scheduler.send(from, Message::Call(to)).unwrap();
    call(a.pid(), b.pid());
    call(b.pid(), c.pid());
    let way = scheduler.wait_for_standstill().unwrap();
    assert_eq!(
        Rings::of(&way).call_rings(),
        Vec::<Vec<Pid>>::new(),
        "{way}"
    );
    let of_a = details(&scheduler, a.pid());
    assert_eq!(of_a.commands[0].calls, Some(b.pid()));
    assert!(
        way.to_string()
            .contains(&format!("\n    call 7 of {}, for ", b.pid()))
    );
    // With a time limit it is none.
    let brief = Message::CallBriefly(a.pid(), timers.clone());
    scheduler.send(c.pid(), brief).unwrap();
    clock.block_until(1);
    let brief = scheduler.wait_for_standstill().unwrap();
    assert_eq!(
        Rings::of(&brief).call_rings(),
        Vec::<Vec<Pid>>::new(),
        "{brief}"
    );
    clock.advance(SECOND);
    until(|| scheduler.info(c.pid()).unwrap().activity == Activity::Idle);
    call(c.pid(), a.pid());
    call(d.pid(), a.pid());
    let ring = scheduler.wait_for_standstill().unwrap();
    assert_eq!(ring.verdict(), Verdict::AwaitsOutside, "{ring}");
    assert_eq!(Rings::of(&ring).call_rings(), [[a.pid(), b.pid(), c.pid()]]);
    let named = format!(
        "in a ring, unless one has passed its caller on: {0} calls {1} calls {2} calls {0}",
        a.pid(),
        b.pid(),
        c.pid()
    );
    assert!(Rings::of(&ring).to_string().contains(&named), "{ring}");
    assert!(Rings::of(&ring).stuck().is_empty() && Rings::of(&ring).rings().is_empty());
}

/// A process of the other protocol, which calls the one inside.
struct OfTest(Asker);

impl Process<Test> for OfTest {
    fn init(&mut self, _: &Context<'_, Test>, _: &str, _: u64) -> Result<(), InitError<Test>> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Test>,
        _: Events<'_, Test>,
        _: &mut StepOutput<Test>,
    ) -> Result<(), String> {
        Ok(())
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name_of_val(&self.0)
    }
}

/// Each step waits for the test. A failure: a step is told twice, or not at all.
#[test]
fn a_watchdog_tells_of_each_long_step_once() {
    const LIMIT: Duration = Duration::from_millis(4);
    let (bark, barks) = mpsc::channel();
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler(handle)
        .observer(filch_actors::Journal::default())
        .watchdog(LIMIT, move |call| {
            let _ = bark.send(call.clone());
            panic!("it is contained");
        })
        .build()
        .unwrap();
    let (go_on, gate) = mpsc::channel::<bool>();
    let slow = start(&scheduler, move |_, _, out| match gate.recv() {
        Ok(true) => out.go_on(),
        _ => out.done(0),
    });
    for more in [true, true, false] {
        let call = barks.recv().unwrap();
        assert_eq!(call.process, Some(slow.pid()));
        assert_eq!(call.type_name, Some("actors::common::Scripted"));
        assert!(call.elapsed >= LIMIT, "{call}");
        let is_old = |elapsed: Duration| elapsed >= 8 * LIMIT;
        until(|| scheduler.running().iter().any(|call| is_old(call.elapsed)));
        assert!(barks.try_recv().is_err(), "twice of one step");
        go_on.send(more).unwrap();
    }
    slow.join().unwrap();
    let report = scheduler.shutdown(Duration::from_secs(30)).unwrap();
    assert!(report.is_clean(), "{report}");
    assert!(barks.recv().is_err(), "its thread has ended");
}
