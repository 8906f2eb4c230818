//! A bank: accounts are processes, and so are transfers.

use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use filch_actors::prelude::*;
use filch_actors::{CallError, Caller};
use filch_scheduler::{Event, Handle, Pid, Process, Protocol, Scheduler, from_fn};

pub(crate) enum Bank {}

impl Protocol for Bank {
    type Input = ();
    type Message = Message;
    type Command = ();
    type Reply = ();
    type Output = i64;
    type Error = String;
}

// ANCHOR: messages
pub(crate) enum Message {
    Read(Caller<i64>),
    Write(i64, Caller<i64>),
    Add(i64, Caller<i64>),
}
// ANCHOR_END: messages

/// The balances that accounts noted, in order. The lock is std's: no other thread runs under it.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(&'static str, i64)>>>);

impl Log {
    fn note(&self, account: &'static str, balance: i64) {
        self.0.lock().unwrap().push((account, balance));
    }

    pub(crate) fn take(&self) -> Vec<(&'static str, i64)> {
        mem::take(&mut self.0.lock().unwrap())
    }
}

/// An account, which is done with its balance when it is cancelled.
fn account(name: &'static str, mut balance: i64, log: Log) -> impl Process<Bank> {
    from_fn(move |_, events, out| {
        for event in events {
            match event {
                Event::Message(Message::Read(caller)) => out.answer(caller, balance),
                Event::Message(Message::Write(new, caller)) => {
                    balance = new;
                    out.answer(caller, balance);
                }
                Event::Message(Message::Add(amount, caller)) => {
                    balance += amount;
                    out.answer(caller, balance);
                }
                _ => out.done(balance),
            }
            log.note(name, balance);
        }
        Ok(())
    })
}

// ANCHOR: hasty
/// Reads each balance by one message, and writes it by another: a write in between is lost.
pub(crate) async fn hasty_transfer(
    bank: Handle<Bank>,
    from: Pid,
    to: Pid,
    amount: i64,
) -> Result<(), CallError<Bank>> {
    for (account, amount) in [(from, -amount), (to, amount)] {
        let balance = bank.ask(account, Message::Read).await?;
        let written = bank.ask(account, |caller| Message::Write(balance + amount, caller));
        written.await?;
    }
    Ok(())
}
// ANCHOR_END: hasty

/// Changes each balance by one message.
pub(crate) async fn careful_transfer(
    bank: Handle<Bank>,
    from: Pid,
    to: Pid,
    amount: i64,
) -> Result<(), CallError<Bank>> {
    for (account, amount) in [(from, -amount), (to, amount)] {
        bank.ask(account, |caller| Message::Add(amount, caller))
            .await?;
    }
    Ok(())
}

// ANCHOR: test
/// Makes two transfers at once between two accounts, and checks the sum afterwards.
pub(crate) fn two_transfers<F>(transfer: impl Fn(Handle<Bank>, Pid, Pid, i64) -> F, log: &Log)
where
    F: Future<Output = Result<(), CallError<Bank>>> + Send + 'static,
{
    let bank = Scheduler::builder().workers(2).build().unwrap();
    let open = |name| {
        let account = account(name, 100, log.clone());
        bank.submit(account, "open", ()).unwrap()
    };
    let accounts = ["from", "to"].map(open);
    let (from, to) = (accounts[0].pid(), accounts[1].pid());
    let begin = |amount| {
        bank.spawn(transfer(bank.handle(), from, to, amount))
            .unwrap()
    };
    for transfer in [10, 20].map(begin) {
        transfer.join().unwrap().unwrap();
    }
    bank.shutdown(Duration::MAX).unwrap();
    let total: i64 = accounts.map(|account| account.join().unwrap()).iter().sum();
    assert_eq!(total, 200, "money is lost");
}
// ANCHOR_END: test
