//! A process under test beside others, and in place of another.

use std::time::Duration;

use filch_actors::prelude::*;
use filch_scheduler::{
    Context, Event, Events, ExitReason, InitError, Pid, Process, Scheduler, StepOutput, from_fn,
};
use filch_testing::{ProcessTest, StepStatus, WhyNoStep};

use crate::{Log, Message, Script, Scripted, Shop, begun, completed, look_up, price};

#[test]
fn the_process_lives_among_real_ones() {
    let sends: Script = |context, event, out| {
        match event {
            Event::Message(Message::Watch(other)) => {
                context.monitor(other);
                context.send(other, Message::Price("tea".into())).unwrap();
            }
            Event::Down(down) => {
                out.done(u64::from(down.reason.is_normal()));
            }
            _ => {}
        }
        Ok(())
    };
    let (mut test, _) = begun(sends);
    let shelf = test.mailbox();
    test.step([Event::Message(Message::Watch(shelf.pid()))])
        .unwrap();
    let [Message::Price(of)] = &shelf.take_messages()[..] else {
        panic!("one message");
    };
    assert_eq!(of, "tea");
    // A real process calls it, and ends.
    let pid = test.pid();
    let asks = from_fn(
        move |context: &Context<'_, Shop>, events: Events<'_, Shop>, out: &mut StepOutput<Shop>| {
            out.wait();
            let mut is_first = true;
            for event in events {
                is_first = false;
                if let Event::Completed { result, .. } = event {
                    out.done(result.map_err(|error| error.to_string())?);
                }
            }
            if is_first {
                let message = |caller| Message::Ask("bread".to_owned(), caller);
                out.call(context, 1, pid, message, |answer| {
                    answer.map_err(|error| error.to_string())
                });
            }
            Ok(())
        },
    );
    let asks = test.handle().submit(asks, "run", pid).unwrap();
    let events = test.take_events();
    assert!(
        matches!(&events[..], [Event::Message(Message::Ask(..))]),
        "{events:?}"
    );
    // It does not answer, and the caller learns that; then it watches the end of another.
    test.step(events).unwrap();
    assert!(
        asks.join()
            .unwrap_err()
            .to_string()
            .contains("without an answer")
    );
    drop(shelf);
    let events = test.take_events();
    assert!(matches!(&events[..], [Event::Down(_)]), "{events:?}");
    let step = test.step(events).unwrap();
    assert!(matches!(step.status, StepStatus::Done(0)), "{step:?}");
}

/// A failure: the mailbox that stands for the process ends, and the test is told of nothing.
#[test]
fn the_end_of_a_linked_process_is_an_event() {
    let (test, _) = begun(look_up);
    let other = test.mailbox();
    test.handle().link(test.pid(), other.pid());
    drop(other);
    let events = test.take_events();
    assert!(matches!(&events[..], [Event::Exited(_)]), "{events:?}");
}

#[test]
fn a_new_version_takes_over() {
    let upgrades: Script = |context, _, out| {
        out.yield_command(4, "before");
        out.upgrade(Scripted::new(look_up), "run", context.pid());
        Ok(())
    };
    let (mut test, log) = begun(upgrades);
    let pid = test.pid();
    let step = test.step([price("tea")]).unwrap();
    assert_eq!(step.commands, [(4, "before")]);
    let StepStatus::Upgrade(version) = step.status else {
        panic!("{step:?}");
    };
    assert_eq!((&*version.method, version.input), ("run", pid));
    assert_eq!(test.step([]).unwrap_err().reason, WhyNoStep::Over);
    assert!(log.take().is_empty());
    let mut test = test.upgrade(version).unwrap();
    assert_eq!(log.take().len(), 1);
    assert_eq!(test.pid(), pid);
    // The new version inherits the commands of the old one.
    let step = test.step([completed(4, 8)]).unwrap();
    assert!(matches!(step.status, StepStatus::Done(8)), "{step:?}");

    let refuses: Script = |context, _, out| {
        out.upgrade(Scripted::new(look_up), "walk", context.pid());
        Ok(())
    };
    let (mut test, log) = begun(refuses);
    let StepStatus::Upgrade(version) = test.step([price("tea")]).unwrap().status else {
        panic!("another status");
    };
    let error = test.upgrade(version).unwrap_err();
    assert!(error.to_string().contains("the new version did not start"));
    assert_eq!(log.take().len(), 1);
}

/// Goes on as a new version at its first event, and panics in its close.
struct Version {
    number: u32,
    log: Log,
}

impl Process<Shop> for Version {
    fn init(&mut self, _: &Context<'_, Shop>, _: &str, _: Pid) -> Result<(), InitError<Shop>> {
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Shop>,
        events: Events<'_, Shop>,
        out: &mut StepOutput<Shop>,
    ) -> Result<(), String> {
        if events.len() > 0 {
            let (number, log) = (self.number + 1, self.log.clone());
            out.upgrade(Self { number, log }, "run", context.pid());
        }
        Ok(())
    }

    fn close(&mut self, reason: &ExitReason) {
        self.log.note(format!("{}: {reason}", self.number));
        assert!(self.number > 0, "not without me");
    }
}

/// The new version, which had begun, gets the reason of its end: in a test as in a scheduler, which
/// adds the process.
#[test]
fn an_old_version_panics_when_it_is_closed() {
    let log = Log::default();
    let old = || Version {
        number: 0,
        log: log.clone(),
    };
    let mut test = ProcessTest::new(old());
    test.init("run", test.pid()).unwrap();
    let StepStatus::Upgrade(version) = test.step([price("tea")]).unwrap().status else {
        panic!("another status");
    };
    let tested = test.upgrade(version).unwrap_err();
    let in_test = log.take();

    let scheduler = Scheduler::<Shop>::builder().workers(1).build().unwrap();
    let peer = scheduler.spawn(async {}).unwrap().pid();
    let process = scheduler.submit(old(), "run", peer).unwrap();
    let message = Message::Price("tea".to_owned());
    scheduler.send(process.pid(), message).unwrap();
    let real = process.join().unwrap_err();
    let told = |real: &str| real.split(" (in process ").next().map(str::to_owned);
    assert_eq!(Some(tested.to_string()), told(&real.to_string()));
    let really: Vec<_> = log.take().iter().filter_map(|note| told(note)).collect();
    assert_eq!(in_test, really);
}

#[test]
fn a_process_is_tested_in_a_scheduler_of_the_users() {
    let scheduler = Scheduler::<Shop>::builder().workers(2).build().unwrap();
    let mut test = ProcessTest::on(&scheduler, Scripted::new(look_up));
    scheduler.register("shop", test.pid()).unwrap();
    let pid = scheduler.whereis("shop").unwrap();
    scheduler
        .send(pid, Message::Price("tea".to_owned()))
        .unwrap();
    test.init("run", pid).unwrap();
    let events = test.take_events();
    assert_eq!(test.step(events).unwrap().commands, [(3, "look up")]);
    scheduler.cancel(pid, "closing time").unwrap();
    assert!(matches!(&test.take_events()[..], [Event::Cancel(_)]));
    // The mailbox that stands for the process does not keep the scheduler from ending.
    let report = scheduler.shutdown(Duration::from_secs(10)).unwrap();
    assert_eq!(report.aborted, 0, "{report}");
}
