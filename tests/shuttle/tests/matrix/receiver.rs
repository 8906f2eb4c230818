//! The receiver, as a process and as an async function, and the script that it plays.

use filch_actors::prelude::*;
use filch_actors::{Answer, Caller, Inbox};
use filch_scheduler::{
    Completion, Context, Event, Events, ExitReason, InitError, Pid, Process, StepOutput, Submission,
};

use super::account::{Account, Letter, Mail, Order, Post};
use super::axes::Moment;
use super::sync::{Arc, Condvar, Mutex, mpsc};
use super::{Cell, LATE, RACING, STILL, thread};

/// The name of the receiver, and of the group of which it is the only member.
pub(crate) const NAME: &str = "receiver";

/// The reason of a cancel that only asks the receiver to say that it has come so far.
pub(crate) const FLUSH: &str = "flush";

/// The script of one cell. It has no handle to the scheduler, whose processes have it.
pub(crate) struct Script {
    pub(crate) cell: Cell,
    pub(crate) account: Arc<Account>,
    /// The place where the receiver stands still.
    pub(crate) gate: Gate,
    /// The receiver has begun, and will be brought to its moment from outside.
    pub(crate) begun: Gate,
    /// The receiver has read all that was sent before a [`FLUSH`].
    pub(crate) flushed: Gate,
    /// The PIDs of the receiver's lives.
    pub(crate) pids: Mutex<Vec<Pid>>,
    /// The agent that the receiver calls.
    pub(crate) desk: Mutex<Option<Pid>>,
    pub(crate) rights: Mutex<mpsc::Sender<Right>>,
}

/// The right to send the receiver a reply.
pub(crate) enum Right {
    Command(Completion<Mail>),
    Call(Caller<Option<Letter>>),
}

/// A place where one thread tells others that it is there, and may wait for them.
#[derive(Default)]
pub(crate) struct Gate {
    /// It is reached, and it is open.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    fn change(&self, change: impl FnOnce(&mut (bool, bool))) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait_until(&self, is_so: impl Fn((bool, bool)) -> bool) {
        let mut state = self.state.lock().unwrap();
        while !is_so(*state) {
            state = self.changed.wait(state).unwrap();
        }
    }

    pub(crate) fn reach(&self) {
        self.change(|state| state.0 = true);
    }

    pub(crate) fn open(&self) {
        self.change(|state| state.1 = true);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.lock().unwrap().1
    }

    pub(crate) fn await_reached(&self) {
        self.wait_until(|(is_reached, _)| is_reached);
    }

    /// Reaches it, and stands still until it is open.
    pub(crate) fn hold(&self) {
        self.reach();
        self.wait_until(|(_, is_open)| is_open);
    }
}

impl Script {
    /// Returns the receiver, as one knows it who does not look for its name.
    pub(crate) fn to(&self) -> Pid {
        let pids = self.pids.lock().unwrap();
        let is_last_life = self.cell.moment == Moment::Restarted;
        let known = if is_last_life {
            pids.first()
        } else {
            pids.last()
        };
        *known.expect("it has reached its moment")
    }

    pub(crate) fn owe(&self, right: Right) {
        self.rights.lock().unwrap().send(right).unwrap();
    }

    /// Gives the receiver to come its mailbox and its group, and publishes its PID.
    pub(crate) fn prepare<'a, S>(
        self: &Arc<Self>,
        receiver: Submission<'a, Mail, S>,
    ) -> Submission<'a, Mail, S> {
        let script = Arc::clone(self);
        self.cell.room.of(receiver).condition(move |handle, pid| {
            script.pids.lock().unwrap().push(pid);
            handle.join_group(NAME, pid)?;
            if script.cell.moment == Moment::BeforeInit {
                script.gate.hold();
            }
            Ok(())
        })
    }
}

pub(crate) struct Receiver {
    script: Arc<Script>,
    /// 0, and 1 for the next version or life that the moment needs; others play nothing.
    life: usize,
    /// It has opened the commands that are to be completed.
    has_begun: bool,
    /// It has played its moment.
    has_acted: bool,
    /// It ends in its first step.
    is_short: bool,
}

impl Receiver {
    pub(crate) fn new(script: &Arc<Script>, life: usize) -> Self {
        Self {
            script: Arc::clone(script),
            life,
            has_begun: life > 0,
            has_acted: life > 1,
            is_short: false,
        }
    }

    /// Makes one that plays nothing.
    pub(crate) fn bystander(script: &Arc<Script>) -> Self {
        Self::new(script, usize::MAX)
    }

    /// Makes one that plays nothing, and ends in its first step.
    pub(crate) fn short(script: &Arc<Script>) -> Self {
        Self {
            is_short: true,
            ..Self::bystander(script)
        }
    }

    fn holds(&self, at: &[(Moment, usize)]) {
        if at.contains(&(self.script.cell.moment, self.life)) {
            self.script.gate.hold();
        }
    }

    /// Opens commands, or calls, for the letters that are to come as replies.
    fn open_commands(&self, context: &Context<'_, Mail>, out: &mut StepOutput<Mail>) {
        let desk = *self.script.desk.lock().unwrap();
        for _ in 0..STILL + RACING + LATE {
            match desk {
                Some(desk) => out.call(context, 0, desk, Post::Owed, |answer| {
                    answer.map_err(|error| error.to_string())
                }),
                None => out.yield_command(0, Order::Letter),
            }
        }
        out.go_on();
    }

    /// Plays its moment, once; but gives way again and again.
    fn act(
        &mut self,
        context: &Context<'_, Mail>,
        out: &mut StepOutput<Mail>,
    ) -> Result<(), String> {
        use Moment::{InBlockingCall, Restarted, Restarting, WaitsForCommand};
        use Moment::{ShutDown, ShuttingDown, Upgraded, Upgrading};
        let gate = &self.script.gate;
        self.has_acted = true;
        match (self.script.cell.moment, self.life) {
            (Moment::InStep | Moment::Bound | Moment::Terminated, _) | (Upgraded, 1) => gate.hold(),
            (InBlockingCall, _) => context.blocking(|| gate.hold()),
            (WaitsForCommand, _) => {
                out.yield_command(0, Order::Hold);
                out.wait();
            }
            (Moment::GivesWay, _) => {
                gate.reach();
                thread::yield_now();
                out.go_on();
                self.has_acted = gate.is_open();
            }
            (Moment::Closing | Moment::Ended | Moment::Joined, _) => out.done(()),
            (Restarting | Restarted, 0) => return Err("broken".to_owned()),
            (ShuttingDown | ShutDown | Upgrading | Upgraded, _) => self.script.begun.reach(),
            _ => gate.reach(),
        }
        Ok(())
    }
}

impl Process<Mail> for Receiver {
    fn init(
        &mut self,
        _: &Context<'_, Mail>,
        _: &str,
        input: Option<Letter>,
    ) -> Result<(), InitError<Mail>> {
        self.holds(&[(Moment::InInit, 0), (Moment::InitRefuses, 0)]);
        self.holds(&[(Moment::Upgrading, 1), (Moment::Restarting, 1)]);
        match input {
            Some(letter) => self.script.account.see(letter),
            None if self.script.cell.moment == Moment::InitRefuses => {
                return Err(InitError::Failed("it refuses".to_owned()));
            }
            None => {}
        }
        Ok(())
    }

    fn step(
        &mut self,
        context: &Context<'_, Mail>,
        events: Events<'_, Mail>,
        out: &mut StepOutput<Mail>,
    ) -> Result<(), String> {
        let account = &self.script.account;
        let mut is_over = self.is_short;
        for event in events {
            match event {
                Event::Message(Post::Letter(letter)) => account.see(letter),
                Event::Message(Post::Ask(letter, caller)) => {
                    account.see(letter);
                    out.answer(caller, ());
                }
                Event::Completed { result, .. } => {
                    result
                        .ok()
                        .flatten()
                        .into_iter()
                        .for_each(|letter| account.see(letter));
                }
                Event::Cancel(cancel) if cancel.is_shutdown() => {
                    self.holds(&[(Moment::ShuttingDown, 0)]);
                }
                Event::Cancel(cancel) if cancel.reason() == FLUSH => self.script.flushed.reach(),
                Event::Cancel(_) => is_over = true,
                _ => {}
            }
        }
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        if is_over {
            out.done(());
        } else if !has_begun && self.script.cell.way.is_reply() {
            self.open_commands(context, out);
        } else if !self.has_acted {
            return self.act(context, out);
        }
        Ok(())
    }

    fn close(&mut self, reason: &ExitReason) {
        if !self.is_short && !matches!(reason, ExitReason::Upgraded) {
            self.script.account.ends();
            self.holds(&[(Moment::Closing, 0)]);
        }
    }
}

/// The receiver as an async function, which goes on when it is told to.
pub(crate) async fn function(mut inbox: Inbox<Mail>, script: Arc<Script>, go_on: Answer<()>) {
    /// Notes the end, before the inbox is dropped.
    struct Ends<'a>(&'a Account);

    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.ends();
        }
    }

    let account = &script.account;
    let _ends = Ends(account);
    script.gate.reach();
    match script.cell.moment {
        Moment::FunctionBusy => go_on.await.unwrap(),
        Moment::FunctionWithoutInbox => {
            drop(inbox);
            return go_on.await.unwrap();
        }
        _ => {}
    }
    loop {
        match inbox.next().await {
            Event::Message(Post::Letter(letter)) => account.see(letter),
            Event::Message(Post::Ask(letter, caller)) => {
                account.see(letter);
                caller.answer(());
            }
            Event::Cancel(cancel) if cancel.reason() == FLUSH => script.flushed.reach(),
            Event::Cancel(cancel) if !cancel.is_shutdown() => return,
            _ => {}
        }
    }
}
