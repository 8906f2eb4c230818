//! Supervision: a bank whose accounts and clerks crash, at moments drawn from a seed. They are
//! restarted, no money is lost, and each transfer is made once. Another seed may be an argument.

mod vault;

use std::collections::HashSet;
use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use filch::actors::timers::Timers;
use filch::actors::{CallError, Caller, Inbox};
use filch::prelude::*;
use filch::scheduler::{
    Context, Event, Events, Handle, InitError, Process, Protocol, Scheduler, StepOutput,
};
use filch::supervisor::{Child, Restart, Shutdown, Strategy, Supervisor};

use vault::{ACCOUNTS, CLERKS, Crash, Entry, Vault, drawn};

const MINUTE: Duration = Duration::from_secs(60);

/// The amount in each account at first.
const OPENING: i64 = 1_000;

// ANCHOR: protocol
enum Bank {}

enum Message {
    /// Make this entry, unless it was made before, and answer when it is in the journal.
    Enter(Entry, Caller<()>),
    Balance(Caller<i64>),
}
// ANCHOR_END: protocol

impl Protocol for Bank {
    type Input = ();
    type Message = Message;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

// ANCHOR: account
struct Account {
    vault: Arc<Vault>,
    number: usize,
    // What follows from the journal:
    entered: HashSet<Entry>,
    balance: i64,
}

impl Account {
    fn add(&mut self, entry: Entry) -> Result<(), String> {
        let sum = self.balance.checked_add(entry.amount);
        self.balance = sum.ok_or("too much money")?;
        self.entered.insert(entry);
        Ok(())
    }
}

impl Process<Bank> for Account {
    /// Begins a life with the entries of the earlier lives.
    fn init(&mut self, _: &Context<'_, Bank>, _: &str, (): ()) -> Result<(), InitError<Bank>> {
        for entry in self.vault.journal(self.number) {
            self.add(entry).map_err(InitError::Failed)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        _: &Context<'_, Bank>,
        events: Events<'_, Bank>,
        out: &mut StepOutput<Bank>,
    ) -> Result<(), String> {
        for event in events {
            match event {
                Event::Message(Message::Enter(entry, caller)) => {
                    if !self.entered.contains(&entry) {
                        self.vault.may_crash(Crash::BeforeEntry(entry));
                        self.vault.journals[self.number].lock().unwrap().push(entry);
                        self.vault.may_crash(Crash::AfterEntry(entry));
                        self.add(entry)?;
                    }
                    out.answer(caller, ());
                }
                Event::Message(Message::Balance(caller)) => out.answer(caller, self.balance),
                _ => out.done(()),
            }
        }
        Ok(())
    }
}
// ANCHOR_END: account

// ANCHOR: enter
/// Asks an account until it answers. As the entry has a number, that is safe.
async fn enter(bank: &Handle<Bank>, account: usize, entry: Entry) {
    loop {
        // Between two lives nobody has the name.
        if let Some(pid) = bank.whereis(&name(account)) {
            match bank.ask(pid, |caller| Message::Enter(entry, caller)).await {
                Ok(()) => return,
                // It had ended, or ends now: with the message unread, half done, or done.
                Err(CallError::Send(_) | CallError::Abandoned) => {}
                Err(error) => panic!("not with `ask`: {error}"),
            }
        }
        give_way().await;
    }
}
// ANCHOR_END: enter

fn name(account: usize) -> String {
    format!("account {account}")
}

/// Lets all others that can run go first.
async fn give_way() {
    let mut has_given_way = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_given_way, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

// ANCHOR: clerk
/// Makes the transfers of its orders, one after another. An order stays until it is done, so a new
/// life begins with the transfer that the last one broke off.
async fn clerk(inbox: Inbox<Bank>, vault: Arc<Vault>, clerk: usize) {
    let bank = inbox.handle();
    while let Some(transfer) = vault.next_order(clerk) {
        enter(bank, transfer.from, transfer.withdrawal()).await;
        vault.may_crash(Crash::HalfWay(transfer.number));
        enter(bank, transfer.to, transfer.deposit()).await;
        vault.orders[clerk].lock().unwrap().pop_front();
    }
}
// ANCHOR_END: clerk

// ANCHOR: tree
fn account(vault: &Arc<Vault>, number: usize) -> Child<Bank> {
    let vault = Arc::clone(vault);
    // It is permanent by default.
    Child::new(&name(number), move |bank| {
        let account = Account {
            vault: Arc::clone(&vault),
            number,
            entered: HashSet::new(),
            balance: OPENING,
        };
        bank.submission(account, "open", ())
    })
}

fn accounts(vault: &Arc<Vault>) -> Supervisor<Bank> {
    // The crashes of all accounts together that it survives in a minute.
    let supervisor = Supervisor::new(Strategy::OneForOne).intensity(10 * ACCOUNTS, MINUTE);
    (0..ACCOUNTS).fold(supervisor, |all, number| all.child(account(vault, number)))
}

fn clerks(vault: &Arc<Vault>) -> Supervisor<Bank> {
    let supervisor = Supervisor::new(Strategy::OneForOne).intensity(1_000 * CLERKS, MINUTE);
    (0..CLERKS).fold(supervisor, |all, number| {
        let (vault, name) = (Arc::clone(vault), format!("clerk {number}"));
        let child = Child::async_fn(&name, move |inbox| clerk(inbox, Arc::clone(&vault), number));
        // Restarted until all of its orders are done. It may end anywhere, so nobody asks it to.
        all.child(child.restart(Restart::Transient).shutdown(Shutdown::AtOnce))
    })
}
// ANCHOR_END: tree

type Failure = Box<dyn Error + Send + Sync>;

fn crashes_lose_no_money(seed: u64) -> Result<(), Failure> {
    // ANCHOR: run
    let (transfers, crashes) = drawn(seed);
    let planned = crashes.len();
    let vault = Vault::new(&transfers, crashes);
    let scheduler = Scheduler::<Bank>::builder().workers(2).build()?;
    let timers = Timers::new()?;

    let (for_accounts, for_clerks) = (Arc::clone(&vault), Arc::clone(&vault));
    let bank = Supervisor::new(Strategy::OneForOne)
        .child(Child::supervisor("accounts", move || {
            accounts(&for_accounts)
        }))
        .child(Child::supervisor("clerks", move || clerks(&for_clerks)))
        .start(&scheduler, &timers)?
        .wait()?;
    // Until nothing can run any more.
    scheduler.wait_for_standstill_timeout(MINUTE)?;
    // ANCHOR_END: run

    // ANCHOR: checks
    // No money has come or gone.
    let mut sum = 0;
    for account in 0..ACCOUNTS {
        let pid = scheduler.whereis(&name(account)).ok_or("it has ended")?;
        sum += scheduler.call(pid, Message::Balance)?;
    }
    assert_eq!(sum, ACCOUNTS as i64 * OPENING, "seed {seed}: the sum");

    // Each promise was kept, once, and nothing else was done.
    let entries = |account| vault.journal(account).into_iter();
    for transfer in &transfers {
        let withdrawals = entries(transfer.from).filter(|entry| *entry == transfer.withdrawal());
        let deposits = entries(transfer.to).filter(|entry| *entry == transfer.deposit());
        let made = (withdrawals.count(), deposits.count());
        assert_eq!(made, (1, 1), "seed {seed}: transfer {}", transfer.number);
    }
    let all = (0..ACCOUNTS).flat_map(entries).count();
    assert_eq!(all, 2 * transfers.len(), "seed {seed}: entries");

    // It has crashed as planned, and each crash was followed by a new life.
    bank.stop().wait()?;
    let handle = scheduler.handle();
    assert!(scheduler.shutdown(MINUTE)?.is_clean());
    let stats = handle.stats().total();
    assert!(planned > 0 && vault.crashes.lock().unwrap().is_empty());
    assert_eq!(stats.failed, planned as u64, "seed {seed}: crashes");
    let supervisors = 3;
    let lives = ACCOUNTS + CLERKS + supervisors + planned;
    assert_eq!(stats.ended, lives as u64, "seed {seed}: lives");
    // ANCHOR_END: checks
    println!(
        "seed {seed}: {} transfers, {planned} crashes",
        transfers.len()
    );
    Ok(())
}

fn a_supervisor_gives_up() -> Result<(), Failure> {
    let scheduler = Scheduler::<Bank>::builder().workers(2).build()?;
    let timers = Timers::new()?;
    let vault = Vault::new(&[], HashSet::new());
    // ANCHOR: gives_up
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(3, MINUTE)
        .child(account(&vault, 0))
        .start(&scheduler, &timers)?
        .wait()?;
    let ended = supervisor.ended();
    let poison = Entry {
        transfer: 0,
        amount: i64::MAX,
    };
    let pid = scheduler
        .whereis("account 0")
        .ok_or("it has been started")?;
    let answer = scheduler.call(pid, |caller| Message::Enter(poison, caller));
    assert!(matches!(answer, Err(CallError::Abandoned)));
    let Err(error) = ended.wait() else {
        return Err("each new life reads the same journal".into());
    };
    let text = "children failed too often, the last one was `account 0`: not started: ";
    assert!(error.to_string().starts_with(text), "{error}");
    assert!(error.to_string().ends_with("too much money"), "{error}");
    // ANCHOR_END: gives_up
    println!("{error}");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let seed = std::env::args().nth(1);
    crashes_lose_no_money(seed.map_or(Ok(1), |seed| seed.parse())?)?;
    a_supervisor_gives_up()
}
