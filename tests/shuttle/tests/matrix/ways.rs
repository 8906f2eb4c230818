//! Each way to send, as a stranger would do it.

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};
use std::time::Duration;

use filch_actors::Inbox;
use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_scheduler::{Context, Event, Handle, Pid, Process, StepOutput, Undelivered, from_fn};

use super::account::{Letter, Mail, Post, Told};
use super::axes::Way;
use super::receiver::{NAME, Receiver, Right, Script};
use super::sync::{Arc, Mutex, mpsc};
use super::thread;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// The things that a thread needs to send.
#[derive(Clone)]
pub(crate) struct Office {
    pub(crate) script: Arc<Script>,
    pub(crate) handle: Handle<Mail>,
    /// The scheduler of another node.
    pub(crate) elsewhere: Option<Handle<Mail>>,
    pub(crate) timers: Timers,
    pub(crate) clock: FakeClock,
    pub(crate) agent: Option<Pid>,
    pub(crate) rights: Arc<Mutex<mpsc::Receiver<Right>>>,
}

/// A sender that is not told yet.
pub(crate) type Pending = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Office {
    /// Sends the letters, one after another. Returns the senders that are not told yet.
    pub(crate) fn send(&self, letters: Vec<Letter>) -> Vec<Pending> {
        let Self { script, handle, .. } = self;
        let mut pending = Vec::new();
        match script.cell.way {
            way if way.is_by_process() => {
                let agent = self.agent.expect("it has one");
                let sent = handle.call(agent, |caller| Post::Batch(letters, caller));
                sent.unwrap();
            }
            Way::Call => {
                let call = |letter| {
                    let office = self.clone();
                    thread::spawn(move || drop(office.send_one(letter)))
                };
                let calls: Vec<_> = letters.into_iter().map(call).collect();
                calls.into_iter().for_each(|call| call.join().unwrap());
            }
            Way::Interval => {
                let (turns, mut letters) = (letters.len(), letters.into_iter());
                let next = move || Post::Letter(letters.next().expect("so many turns"));
                let key = self.timers.interval(SECOND, handle, script.to(), next);
                (0..turns).for_each(|_| self.clock.advance(SECOND));
                key.map(|key| self.timers.cancel(key)).unwrap();
            }
            _ => pending.extend(
                letters
                    .into_iter()
                    .filter_map(|letter| self.send_one(letter)),
            ),
        }
        let mut context = task::Context::from_waker(task::Waker::noop());
        pending.retain_mut(|told| told.as_mut().poll(&mut context).is_pending());
        pending
    }

    fn send_one(&self, letter: Letter) -> Option<Pending> {
        let Self { handle, timers, .. } = self;
        let (script, post, number) = (&self.script, Post::Letter, letter.number);
        let (to, account) = (script.to(), Arc::clone(&script.account));
        match script.cell.way {
            Way::Send => account.sent(number, handle.send(to, post(letter))),
            Way::AsGuest => {
                let is_over = || account.read(number).seen > 0;
                account.sent(number, handle.send_as_guest(to, post(letter), is_over));
            }
            Way::Route => {
                let elsewhere = self.elsewhere.as_ref().expect("it has one");
                account.sent(number, elsewhere.send(to, post(letter)));
            }
            Way::Name => match handle.whereis(NAME) {
                Some(to) => account.sent(number, handle.send(to, post(letter))),
                None => account.back(number, post(letter), Undelivered::NoSuchProcess),
            },
            Way::Broadcast => {
                let mut letter = Some(letter);
                let message = |_| post(letter.take().expect("the group has one member"));
                let mut told = handle.broadcast(NAME, message);
                match (told.refused.pop(), letter) {
                    (Some(error), _) => account.sent(number, Err(error)),
                    (None, Some(letter)) => {
                        account.back(number, post(letter), Undelivered::NoSuchProcess);
                    }
                    (None, None) => account.tell(number, Told::Sent),
                }
            }
            Way::WhenRoom => {
                let sending = handle.send_when_room(to, post(letter));
                return Some(Box::pin(async move { account.sent(number, sending.await) }));
            }
            Way::Forgotten => drop(handle.send_when_room(to, post(letter))),
            Way::Impatient => {
                if let Poll::Ready(sent) = handle.send_patiently(to, post(letter), None) {
                    account.sent(number, sent);
                }
            }
            Way::Call => {
                account.answered(number, handle.call(to, |caller| Post::Ask(letter, caller)));
            }
            Way::CallTimeout => {
                let ask = |caller| Post::Ask(letter, caller);
                account.answered(number, handle.call_timeout(to, Duration::ZERO, ask));
            }
            Way::Ask => {
                let asked = handle.ask(to, |caller| Post::Ask(letter, caller));
                return Some(Box::pin(
                    async move { account.answered(number, asked.await) },
                ));
            }
            Way::SendAt => {
                let _ = timers.send_at(timers.after(SECOND), handle, to, post(letter));
                self.clock.advance(SECOND);
            }
            Way::Complete | Way::CompleteAt | Way::Answer => {
                let right = self.rights.lock().unwrap().recv().unwrap();
                account.tell(number, Told::Sent);
                match right {
                    Right::Call(caller) => caller.answer(Some(letter)),
                    Right::Command(completion) if script.cell.way == Way::Complete => {
                        completion.complete(Some(letter));
                    }
                    Right::Command(completion) => {
                        let _ = timers.complete_after(SECOND, completion, Some(letter));
                        self.clock.advance(SECOND);
                    }
                }
            }
            Way::Upgrade => {
                let version = Receiver::bystander(script);
                account.submitted(number, handle.upgrade(to, version, "run", Some(letter)));
            }
            Way::Submit => {
                let other = Receiver::short(script);
                let other = handle.submission(other, "run", Some(letter)).name(NAME);
                account.submitted(number, other.submit());
            }
            way => unreachable!("{way:?} sends all at once"),
        }
        None
    }
}

/// A process that sends what a thread gives it, and takes the receiver's calls.
pub(crate) fn agent(script: Arc<Script>, timers: Timers) -> impl Process<Mail> {
    from_fn(move |context, events, out| {
        for event in events {
            match event {
                Event::Message(Post::Batch(letters, caller)) => {
                    for letter in letters {
                        send_in_step(&script, &timers, context, out, letter);
                    }
                    out.answer(caller, ());
                }
                Event::Message(Post::Owed(caller)) => script.owe(Right::Call(caller)),
                Event::Cancel(cancel) if !cancel.is_shutdown() => out.done(()),
                _ => {}
            }
        }
        Ok(())
    })
}

fn send_in_step(
    script: &Script,
    timers: &Timers,
    context: &Context<'_, Mail>,
    out: &mut StepOutput<Mail>,
    letter: Letter,
) {
    let (to, number, post) = (script.to(), letter.number, Post::Letter);
    let (account, own) = (&script.account, Arc::clone(&script.account));
    let ask = |letter| |caller| Post::Ask(letter, caller);
    match script.cell.way {
        Way::StepSend => account.sent(number, context.send(to, post(letter))),
        Way::StepBlocking => {
            let sent = context.blocking(|| context.send(to, post(letter)));
            account.sent(number, sent);
        }
        Way::StepWhenRoom => out.send_when_room(context, 0, to, post(letter), move |sent| {
            own.sent(number, sent);
            Ok(None)
        }),
        Way::StepCall => out.call(context, 0, to, ask(letter), move |answer| {
            own.answered(number, answer);
            Ok(None)
        }),
        Way::StepCallBy => {
            let limit = (timers.after(SECOND), timers);
            out.call_by(context, 0, limit, to, ask(letter), move |answer| {
                own.answered(number, answer);
                Ok(None)
            });
        }
        way => unreachable!("{way:?} does not send in a step"),
    }
}

/// An async function that does the same.
pub(crate) async fn agent_function(mut inbox: Inbox<Mail>, script: Arc<Script>) {
    loop {
        match inbox.next().await {
            Event::Message(Post::Batch(letters, caller)) => {
                for letter in letters {
                    let number = letter.number;
                    let sent = inbox.send(script.to(), Post::Letter(letter));
                    script.account.sent(number, sent);
                }
                caller.answer(());
            }
            Event::Cancel(cancel) if !cancel.is_shutdown() => return,
            _ => {}
        }
    }
}
