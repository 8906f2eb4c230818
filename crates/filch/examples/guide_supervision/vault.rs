//! The data that outlives the processes of the bank; and the promised transfers and crashes.

use std::collections::{HashSet, VecDeque};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

pub(crate) const ACCOUNTS: usize = 1_000;
pub(crate) const CLERKS: usize = 8;
const TRANSFERS: u64 = 2_000;

// ANCHOR: entry
/// One half of a transfer, as its account knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) transfer: u64,
    pub(crate) amount: i64,
}
// ANCHOR_END: entry

// ANCHOR: vault
/// The data that outlives every process. In a bank, it is on disk.
pub(crate) struct Vault {
    /// For each account, its entries.
    pub(crate) journals: Vec<Mutex<Vec<Entry>>>,
    /// For each clerk, the transfers that were promised and not made yet.
    pub(crate) orders: Vec<Mutex<VecDeque<Transfer>>>,
    /// The crashes to come, each of them once.
    pub(crate) crashes: Mutex<HashSet<Crash>>,
}

/// A transfer. It gets its number when it is promised, and keeps it in every attempt.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) number: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) amount: i64,
}

/// The moment of a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Crash {
    BeforeEntry(Entry),
    /// In the journal, but unanswered.
    AfterEntry(Entry),
    /// One account knows it, the other one does not.
    HalfWay(u64),
}
// ANCHOR_END: vault

impl Transfer {
    pub(crate) fn withdrawal(&self) -> Entry {
        let (transfer, amount) = (self.number, -self.amount);
        Entry { transfer, amount }
    }

    pub(crate) fn deposit(&self) -> Entry {
        let (transfer, amount) = (self.number, self.amount);
        Entry { transfer, amount }
    }
}

impl Vault {
    pub(crate) fn new(transfers: &[Transfer], crashes: HashSet<Crash>) -> Arc<Self> {
        let orders_of = |clerk: usize| {
            let own = transfers.iter().skip(clerk).step_by(CLERKS);
            Mutex::new(own.copied().collect())
        };
        Arc::new(Self {
            journals: (0..ACCOUNTS).map(|_| Mutex::default()).collect(),
            orders: (0..CLERKS).map(orders_of).collect(),
            crashes: Mutex::new(crashes),
        })
    }

    pub(crate) fn journal(&self, account: usize) -> Vec<Entry> {
        self.journals[account].lock().unwrap().clone()
    }

    pub(crate) fn next_order(&self, clerk: usize) -> Option<Transfer> {
        self.orders[clerk].lock().unwrap().front().copied()
    }

    /// Panics if a crash is planned here, without the usual line on standard error.
    pub(crate) fn may_crash(&self, crash: Crash) {
        let is_planned = self.crashes.lock().unwrap().remove(&crash);
        if is_planned {
            resume_unwind(Box::new(format!("{crash:?}")));
        }
    }
}

/// Draws the promised transfers, and the crashes: the same for the same seed.
pub(crate) fn drawn(seed: u64) -> (Vec<Transfer>, HashSet<Crash>) {
    let mut state = seed;
    let mut below = |limit: usize| {
        let next = state.wrapping_mul(6_364_136_223_846_793_005);
        state = next.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut transfers, mut crashes) = (Vec::new(), HashSet::new());
    for number in 0..TRANSFERS {
        let from = 1 + below(ACCOUNTS - 1);
        // Half of them pay taxes, so that account has several messages when it crashes.
        let is_tax = below(2) == 0;
        let other = (from + 1 + below(ACCOUNTS - 1)) % ACCOUNTS;
        let transfer = Transfer {
            number,
            from,
            to: if is_tax { 0 } else { other },
            amount: 1 + below(100) as i64,
        };
        let moments = [
            Crash::BeforeEntry(transfer.withdrawal()),
            Crash::AfterEntry(transfer.withdrawal()),
            Crash::HalfWay(number),
            Crash::BeforeEntry(transfer.deposit()),
            Crash::AfterEntry(transfer.deposit()),
        ];
        crashes.extend(moments.into_iter().filter(|_| below(10) == 0));
        transfers.push(transfer);
    }
    (transfers, crashes)
}
