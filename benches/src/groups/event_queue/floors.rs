//! The least that a queue of many producers needs: what remains when blocks, memory and holes are somebody else's care.

use std::hint;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::contenders::Queue;

pub(super) struct Shared {
    tail: CachePadded<AtomicU64>,
    lap: u64,
}

pub(super) struct Receiver {
    queue: Arc<Shared>,
    head: u64,
}

static SLOTS: LazyLock<Box<[AtomicU64]>> =
    LazyLock::new(|| (0..1 << 21).map(|_| AtomicU64::new(u64::MAX)).collect());
static LAP: AtomicU32 = AtomicU32::new(0);

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

static PAUSES: LazyLock<u64> = LazyLock::new(|| env("PAUSES", 256));
static BACK0: LazyLock<u64> = LazyLock::new(|| env("BACK0", 32));
static BACK1: LazyLock<u64> = LazyLock::new(|| env("BACK1", 256));
static PUB: LazyLock<u64> = LazyLock::new(|| env("PUB", 1));

pub(super) struct Faa;
pub(super) struct Cas;
pub(super) struct Ring;

fn pause(n: u64) {
    for _ in 0..n {
        hint::spin_loop();
    }
}

fn new() -> (Arc<Shared>, Receiver) {
    LazyLock::force(&SLOTS);
    let queue = Arc::new(Shared {
        tail: CachePadded::new(AtomicU64::new(0)),
        lap: u64::from(LAP.fetch_add(1, Ordering::Relaxed)) << 32,
    });
    (Arc::clone(&queue), Receiver { queue, head: 0 })
}

fn drain(receiver: &mut Receiver, mut sink: impl FnMut(u64)) -> u64 {
    let mut taken = 0;
    let slots = &**SLOTS;
    let lap = receiver.queue.lap;
    loop {
        let word = slots[receiver.head as usize].load(Ordering::Acquire);
        if word & !0xffff_ffff != lap {
            break;
        }
        sink(word & 0xffff_ffff);
        receiver.head += 1;
        taken += 1;
    }
    if taken > 0 {
        pause(*PAUSES);
    }
    taken
}

impl Queue for Faa {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;
    fn new() -> (Self::Sender, Self::Receiver) {
        new()
    }
    fn push(sender: &Self::Sender, event: u64) {
        let at = sender.tail.fetch_add(1, Ordering::AcqRel);
        SLOTS[at as usize].store(sender.lap | event, Ordering::Release);
    }
    fn pop(_: &mut Self::Receiver) -> Option<u64> {
        None
    }
    fn drain(receiver: &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        drain(receiver, sink)
    }
}

impl Queue for Cas {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;
    fn new() -> (Self::Sender, Self::Receiver) {
        new()
    }
    fn push(sender: &Self::Sender, event: u64) {
        let mut at = sender.tail.load(Ordering::Acquire);
        let mut wait = *BACK0;
        while let Err(now) =
            sender
                .tail
                .compare_exchange_weak(at, at + 1, Ordering::AcqRel, Ordering::Acquire)
        {
            at = now;
            pause(wait);
            wait = (wait * 2).min(*BACK1);
        }
        SLOTS[at as usize].store(sender.lap | event, Ordering::Release);
    }
    fn pop(_: &mut Self::Receiver) -> Option<u64> {
        None
    }
    fn drain(receiver: &mut Self::Receiver, sink: impl FnMut(u64)) -> u64 {
        drain(receiver, sink)
    }
}

const RING: usize = 4096;
static RINGS: LazyLock<Box<[AtomicU64]>> =
    LazyLock::new(|| (0..RING).map(|_| AtomicU64::new(u64::MAX)).collect());
static FREE: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(0));

impl Queue for Ring {
    type Sender = Arc<Shared>;
    type Receiver = Receiver;
    fn new() -> (Self::Sender, Self::Receiver) {
        RINGS
            .iter()
            .for_each(|s| s.store(u64::MAX, Ordering::Relaxed));
        FREE.store(0, Ordering::Relaxed);
        new()
    }
    fn push(sender: &Self::Sender, event: u64) {
        let at = sender.tail.fetch_add(1, Ordering::AcqRel);
        if at as usize % (RING / 4) == 0 {
            while FREE.load(Ordering::Acquire) + (RING as u64 * 3 / 4) <= at {
                hint::spin_loop();
            }
        }
        RINGS[at as usize % RING].store((at / RING as u64) << 32 | event, Ordering::Release);
    }
    fn pop(_: &mut Self::Receiver) -> Option<u64> {
        None
    }
    fn drain(receiver: &mut Self::Receiver, mut sink: impl FnMut(u64)) -> u64 {
        let mut taken = 0;
        loop {
            let word = RINGS[receiver.head as usize % RING].load(Ordering::Acquire);
            if word >> 32 != receiver.head / RING as u64 {
                break;
            }
            sink(word & 0xffff_ffff);
            receiver.head += 1;
            taken += 1;
        }
        if taken > 0 {
            FREE.store(receiver.head, Ordering::Release);
            pause(*PAUSES);
        }
        let _ = *PUB;
        taken
    }
}
