//! A scheduler in one file: accounts are processes, workers take them out of a global queue, and
//! threads outside send to them by PID.
//!
//! `cargo run -p filch-process-table --example bank`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use filch_injector::Injector;
use filch_process_state::{LetGo, Reason, Wake};
use filch_process_table::{Closed, Node, Pid, Placement, Table};

/// What an account is sent.
enum Order {
    Pay(u64),
    /// The process ends, with its balance as exit.
    Close,
}

/// The body of a process is its balance, and so is its exit.
type Accounts = Table<u64, Order, u64>;

const ACCOUNTS: usize = 100;
const PAYMENTS: u64 = 1_000;

/// Gives a new account a slot, and makes it Ready.
fn open(table: &Accounts, ready: &Injector<u32>) -> Pid {
    let slot = table
        .occupy(&Placement::default())
        .expect("a hundred find room");
    let pid = table.pid_of(slot);
    // SAFETY: this is the submitter, and the process is not Ready yet.
    unsafe { slot.life.begin(0) };
    slot.state.submit().expect("an empty slot is Complete");
    ready.push(pid.slot());
    pid
}

/// Sends by PID. The thread that is told to enqueue the process does so.
fn send(table: &Accounts, ready: &Injector<u32>, to: Pid, order: Order) {
    let slot = table.find(to).expect("it ends when it is told to");
    match table.post(to, slot, order, Reason::Message) {
        Ok(Wake::Enqueue) => ready.push(to.slot()),
        Ok(Wake::Noted | Wake::Refused | Wake::Dispose) => {}
        Err(_) => unreachable!("it ends when it is told to"),
    }
}

/// One turn of the process in a slot that came out of the queue.
fn step(table: &Accounts, ready: &Injector<u32>, index: u32, open: &AtomicUsize) {
    let slot = table.slot(index);
    slot.state.start().expect("it is in the queue once");
    let mut closes = false;
    // SAFETY: this worker made the process Running: it has the body, and is the queue's consumer.
    let balance = unsafe {
        let balance = slot.life.body().expect("a process that runs has a body");
        slot.events.drain(|order| match order {
            Order::Pay(amount) => *balance += amount,
            Order::Close => closes = true,
        });
        *balance
    };
    if closes {
        // SAFETY: as above; the process ends here, once.
        unsafe {
            slot.life.drop_body();
            Closed::begin(table, slot).complete(drop).tell(|| balance);
        }
        open.fetch_sub(1, Ordering::Relaxed);
    } else if slot.state.idle() == Ok(LetGo::Enqueue) {
        // Something came while it ran.
        ready.push(index);
    }
}

fn main() {
    let table = Accounts::new(Node::default());
    let ready = Injector::<u32>::new();
    let pids: Vec<_> = (0..ACCOUNTS).map(|_| open(&table, &ready)).collect();
    let live = AtomicUsize::new(ACCOUNTS);

    thread::scope(|scope| {
        for _ in 0..2 {
            // These workers yield when they find nothing. `filch-parker` has one that sleeps.
            scope.spawn(|| {
                while live.load(Ordering::Relaxed) > 0 {
                    match ready.pop() {
                        Some(index) => step(&table, &ready, index, &live),
                        None => thread::yield_now(),
                    }
                }
            });
        }
        let senders = [0, 1].map(|_| {
            scope.spawn(|| {
                for payment in 0..PAYMENTS {
                    let to = pids[payment as usize % ACCOUNTS];
                    send(&table, &ready, to, Order::Pay(payment));
                }
            })
        });
        for sender in senders {
            sender.join().expect("a sender does not panic");
        }
        for &pid in &pids {
            send(&table, &ready, pid, Order::Close);
        }
    });

    let mut sum = 0;
    for pid in pids {
        // SAFETY: this is the handle that came with `occupy`; it gives its pin up here.
        unsafe {
            let exit = table.slot(pid.slot()).life.wait(None);
            sum += exit.expect("without a deadline, the wait ends with the exit");
            let _ = table.unpin(table.slot(pid.slot()));
        }
        assert!(table.find(pid).is_none(), "a name is not used again");
    }
    assert_eq!(sum, PAYMENTS * (PAYMENTS - 1));
    println!("{sum} in {ACCOUNTS} accounts");
}
