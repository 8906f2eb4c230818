//! Senders that wait for room: the time when each is told, and those that do not wait.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{Sending, SendingError, WhenFull};
use filch_scheduler::{Completion, Event, Node, ProcessHandle, Scheduler, Undelivered};

use crate::common::{Command, Test, handle, scheduler, scripted, start};

/// In its next step the process waits for a command, which may be the sender's answer.
fn waits_after_its_first_message(
    scheduler: &Scheduler<Test>,
) -> (ProcessHandle<Test>, Receiver<Completion<Test>>) {
    let (give, completions) = mpsc::channel();
    let process = scripted(move |_, events, out| {
        if events
            .iter()
            .any(|event| matches!(event, Event::Message(_)))
        {
            out.yield_command(0, Command::Give(give.clone()));
            out.wait();
        }
    });
    let process = scheduler.submission(process, "run", 0).mailbox(0);
    (process.submit().unwrap(), completions)
}

/// Its mailbox has no room. It is done with the number of its first message.
fn without_room(scheduler: &Scheduler<Test>) -> ProcessHandle<Test> {
    let process = scripted(|_, events, out| {
        if let Some(Event::Message((_, number))) = events.first() {
            out.done(*number);
        }
    });
    let process = scheduler.submission(process, "run", 0).mailbox(0);
    process.submit().unwrap()
}

/// Polls each message; returns true for those whose outcome is known.
fn told(sent: &mut [Sending<Test>]) -> Vec<bool> {
    let mut context = Context::from_waker(Waker::noop());
    let is_told = |sent: &mut Sending<Test>| Pin::new(sent).poll(&mut context).is_ready();
    sent.iter_mut().map(is_told).collect()
}

/// One event a step: the others are in the queue when the process is given the first.
#[test]
fn a_sender_is_told_while_others_wait() {
    let builder = Scheduler::<Test>::builder().workers(1).handler(handle);
    let scheduler = builder.events_per_step(1).build().unwrap();
    let (go_on, gate) = mpsc::channel::<()>();
    let busy = scheduler.spawn(async move { gate.recv() }).unwrap();
    let (process, completions) = waits_after_its_first_message(&scheduler);
    let send = |number| scheduler.send_when_room(process.pid(), (0, number));
    let mut sent = [0, 1, 2].map(send);
    assert_eq!(told(&mut sent), [false; 3]);
    go_on.send(()).unwrap();
    let completion = completions.recv().unwrap();
    assert!(told(&mut sent[..1])[0], "a step was given the first");
    assert_eq!(told(&mut sent[1..]), [false; 2]);
    // One that comes while it waits does not end that.
    let mut late = [send(3)];
    completion.complete(0);
    let completion = completions.recv().unwrap();
    assert!(
        told(&mut sent[1..2])[0],
        "the next step was given the second"
    );
    assert_eq!(told(&mut late), [false]);
    scheduler.terminate(process.pid()).unwrap();
    assert!(process.join().is_err());
    completion.complete(0);
    busy.join().unwrap().unwrap();
}

/// So many that a step is tried with one of them.
#[test]
fn a_sender_is_told_of_a_step_that_is_tried_with_one_message() {
    let scheduler = scheduler(1);
    let (go_on, gate) = mpsc::channel::<()>();
    let busy = scheduler.spawn(async move { gate.recv() }).unwrap();
    let (process, completions) = waits_after_its_first_message(&scheduler);
    let send = |number| scheduler.send_when_room(process.pid(), (0, number));
    let mut sent: Vec<_> = (0..40).map(send).collect();
    go_on.send(()).unwrap();
    let completion = completions.recv().unwrap();
    assert!(told(&mut sent[..1])[0]);
    scheduler.terminate(process.pid()).unwrap();
    assert!(process.join().is_err());
    completion.complete(0);
    busy.join().unwrap().unwrap();
}

/// It does so for as long as it wants to, and may go on later.
#[test]
fn a_thread_waits_for_room() {
    let scheduler = scheduler(1);
    let (go_on, gate) = mpsc::channel::<()>();
    let busy = scheduler.spawn(async move { gate.recv() }).unwrap();
    let process = without_room(&scheduler);
    let sent = scheduler.send_when_room(process.pid(), (0, 7));
    let Err(SendingError::NotYet(sent)) = sent.wait_timeout(Duration::ZERO) else {
        panic!("no worker has come to the process");
    };
    let waiting = thread::spawn(move || sent.wait().is_ok());
    go_on.send(()).unwrap();
    assert!(waiting.join().unwrap());
    assert_eq!(process.join().unwrap(), 7);
    busy.join().unwrap().unwrap();
}

#[test]
fn a_thread_that_waits_gets_the_message_back_from_a_process_that_ends() {
    for when_full in [WhenFull::Refuse, WhenFull::DropOldest] {
        let scheduler = scheduler(1);
        let (go_on, gate) = mpsc::channel::<()>();
        let busy = scheduler.spawn(async move { gate.recv() }).unwrap();
        let process = scheduler.submission(scripted(|_, _, _| Ok(())), "run", 0);
        let process = process.mailbox_with(0, when_full).submit().unwrap();
        let sent = scheduler.send_when_room(process.pid(), (0, 7));
        scheduler.terminate(process.pid()).unwrap();
        let waiting = thread::spawn(move || sent.wait());
        go_on.send(()).unwrap();
        let Err(SendingError::Send(error)) = waiting.join().unwrap() else {
            panic!("it has ended");
        };
        let gone = Undelivered::NoSuchProcess;
        assert_eq!((error.reason, error.message), (gone, (0, 7)));
        busy.join().unwrap().unwrap();
    }
}

/// It would wait for itself. It may ask for an outcome that is known already.
#[test]
fn a_worker_does_not_wait_for_room() {
    let scheduler = scheduler(1);
    let process = without_room(&scheduler);
    let roomy = scheduler.submit(scripted(|_, _, _| Ok(())), "run", 0);
    let (full, roomy) = (process.pid(), roomy.unwrap().pid());
    let asking = start(&scheduler, move |context, _, out| {
        let handle = context.handle();
        let sent = handle.send_when_room(roomy, (0, 1)).wait();
        assert!(sent.is_ok(), "it was known at once");
        let sent = handle.send_when_room(full, (0, 7));
        let sent = sent.wait_timeout(Duration::ZERO);
        assert!(matches!(sent, Err(SendingError::CalledFromInside(_))));
        out.done(1);
        Ok(())
    });
    assert_eq!(asking.join().unwrap(), 1);
    // The message waited all the same.
    assert_eq!(process.join().unwrap(), 7);
}

/// The other node does not know of senders here.
#[test]
fn there_is_no_waiting_for_room_on_another_node() {
    let on_node = |node| {
        Scheduler::<Test>::builder()
            .workers(1)
            .node(Node(node))
            .build()
    };
    let (here, there) = (on_node(1).unwrap(), on_node(2).unwrap());
    assert!(here.connect(Node(2), there.handle()).unwrap().is_none());
    let process = there.submission(scripted(|_, _, _| Ok(())), "run", 0);
    let process = process.mailbox(0).submit().unwrap();
    let sent = here.send_when_room(process.pid(), (0, 7));
    let error = here.spawn(sent).unwrap().join().unwrap().unwrap_err();
    let full = Undelivered::Full { limit: 0 };
    assert_eq!((error.reason, error.message), (full, (0, 7)));
}
