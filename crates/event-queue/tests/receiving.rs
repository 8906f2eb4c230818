//! A receiver that waits: as a thread, and as a task.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use filch_event_queue::{Receiver, RecvError, Sender, channel};

/// A task's waker that counts.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Counting {
    fn new() -> (Arc<Self>, Waker) {
        let counting = Arc::new(Self::default());
        (Arc::clone(&counting), Waker::from(counting))
    }

    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<T: Send>(receiver: &mut Receiver<T>, waker: &Waker) -> Poll<Option<T>> {
    receiver.poll_recv(&mut Context::from_waker(waker))
}

#[test]
fn a_queue_says_whether_an_event_may_still_come() {
    let (sender, mut receiver) = channel();
    assert_eq!(receiver.try_recv(), Err(RecvError::Empty));
    sender.push(1).unwrap();
    let other = sender.clone();
    drop(sender);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(RecvError::Empty), "one is left");
    other.push(2).unwrap();
    drop(other);
    assert_eq!(receiver.try_recv(), Ok(2), "the events come first");
    assert_eq!(receiver.try_recv(), Err(RecvError::Disconnected));
    assert_eq!(receiver.recv(), None);

    let again = receiver.sender();
    assert_eq!(
        receiver.try_recv(),
        Err(RecvError::Empty),
        "nothing is final"
    );
    again.push(3).unwrap();
    receiver.close();
    assert_eq!(receiver.recv(), Some(3));
    assert_eq!(receiver.try_recv(), Err(RecvError::Disconnected));
    assert_eq!(
        receiver.recv_timeout(Duration::MAX),
        Err(RecvError::Disconnected)
    );
    receiver.reopen().unwrap();
    assert_eq!(
        receiver.try_recv(),
        Err(RecvError::Empty),
        "an old sender is left"
    );
    assert!(again.push(4).is_err());
}

#[test]
fn a_wait_ends_when_its_time_is_up() {
    let (sender, mut receiver) = channel();
    let waits = [Duration::ZERO, Duration::from_millis(1)];
    for wait in waits {
        assert_eq!(receiver.recv_timeout(wait), Err(RecvError::Empty));
        let deadline = Instant::now() + wait;
        assert_eq!(receiver.recv_deadline(deadline), Err(RecvError::Empty));
        assert!(Instant::now() >= deadline);
    }
    for late in ["late", "later"] {
        sender.push(late).unwrap();
    }
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok("late"));
    assert_eq!(receiver.recv_deadline(Instant::now()), Ok("later"));
}

/// Takes by turns in all ways, so that each goes on where another has left off.
#[test]
fn all_ways_to_take_keep_one_order() {
    const EVENTS: u32 = if cfg!(miri) { 200 } else { 100_000 };
    let (sender, mut receiver) = channel();
    let pushing = thread::spawn(move || (0..EVENTS).for_each(|event| sender.push(event).unwrap()));
    let mut next = 0;
    let mut came = |event| {
        assert_eq!(event, next);
        next += 1;
    };
    while let Some(event) = receiver.recv() {
        came(event);
        receiver.drain(&mut came);
        (0..5).map_while(|_| receiver.pop()).for_each(&mut came);
        if let Ok(event) = receiver.recv_timeout(Duration::from_micros(1)) {
            came(event);
        }
    }
    assert_eq!(next, EVENTS);
    pushing.join().unwrap();
}

#[test]
fn each_of_many_producers_is_heard_by_a_receiver_that_sleeps() {
    const PRODUCERS: usize = 4;
    const EVENTS: usize = if cfg!(miri) { 200 } else { 10_000 };
    let (sender, mut receiver) = channel();
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let sender = sender.clone();
            scope.spawn(move || {
                for event in 0..EVENTS {
                    sender.push((producer, event)).unwrap();
                    if event % 64 == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        drop(sender);
        let mut next = [0; PRODUCERS];
        while let Some((producer, event)) = receiver.recv() {
            assert_eq!(event, next[producer]);
            next[producer] += 1;
        }
        assert_eq!(next, [EVENTS; PRODUCERS]);
    });
}

#[test]
fn a_push_wakes_the_task_that_waits_and_only_once() {
    let (sender, mut receiver) = channel();
    let (count, waker) = Counting::new();
    sender.push(0).unwrap();
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(0)));
    sender.push(1).unwrap();
    assert_eq!(
        count.wakes(),
        0,
        "a task that found an event waits for none"
    );

    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(1)));
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert_eq!(count.wakes(), 0);
    sender.push(2).unwrap();
    assert_eq!(count.wakes(), 1);
    sender.push(3).unwrap();
    assert_eq!(count.wakes(), 1, "it has been woken");
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(2)));
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(3)));
}

#[test]
fn the_waker_of_the_last_poll_counts() {
    let (sender, mut receiver) = channel();
    let (early, first) = Counting::new();
    let (late, second) = Counting::new();
    assert_eq!(poll(&mut receiver, &first), Poll::Pending);
    assert_eq!(poll(&mut receiver, &second), Poll::Pending);
    drop(first);
    assert_eq!(Arc::strong_count(&early), 1, "nobody keeps the first");
    sender.push(()).unwrap();
    assert_eq!((early.wakes(), late.wakes()), (0, 1));
    drop(second);
    assert_eq!(
        Arc::strong_count(&late),
        1,
        "nor the second, once it was used"
    );
}

#[test]
fn a_task_that_waits_sees_that_it_has_closed_the_queue() {
    let (_sender, mut receiver) = channel::<u32>();
    assert_eq!(poll(&mut receiver, Waker::noop()), Poll::Pending);
    receiver.close();
    assert_eq!(poll(&mut receiver, Waker::noop()), Poll::Ready(None));
}

#[test]
fn the_last_sender_wakes_the_task() {
    let (sender, mut receiver) = channel::<u32>();
    let other = sender.clone();
    let (count, waker) = Counting::new();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    drop(sender);
    assert_eq!(count.wakes(), 0, "one is left");
    drop(other);
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));
}

#[test]
fn a_refused_push_wakes_nobody() {
    let (sender, mut receiver) = channel();
    receiver.close();
    receiver.reopen().unwrap();
    let (count, waker) = Counting::new();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    sender.push(1).unwrap_err();
    assert_eq!(count.wakes(), 0);
    receiver.sender().push(2).unwrap();
    assert_eq!(count.wakes(), 1);
}

#[test]
fn a_wait_that_is_over_leaves_no_waker() {
    fn is_asleep<T: Send>(receiver: &Receiver<T>) -> bool {
        format!("{receiver:?}").contains("receiver_asleep: true")
    }
    let (sender, mut receiver) = channel::<u32>();
    let (_, waker) = Counting::new();
    assert!(poll(&mut receiver, &waker).is_pending() && is_asleep(&receiver));
    assert!(receiver.recv_timeout(Duration::ZERO).is_err() && !is_asleep(&receiver));
    assert!(poll(&mut receiver, &waker).is_pending() && is_asleep(&receiver));
    sender.push(1).unwrap();
    assert!(!is_asleep(&receiver));
}

/// A task's waker often owns the task, and the task its receiver.
#[test]
fn a_receiver_that_goes_takes_its_waker_along() {
    let (sender, mut receiver) = channel::<u32>();
    let (count, waker) = Counting::new();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    drop(waker);
    assert_eq!(Arc::strong_count(&count), 2);
    drop(receiver);
    assert_eq!(Arc::strong_count(&count), 1);
    assert!(sender.push(1).is_err());
}

/// Hands each event to the waker's owner before the push returns, as an executor does that polls in
/// `wake`.
struct Inline {
    receiver: Mutex<Option<Receiver<u32>>>,
    seen: Mutex<Vec<u32>>,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut receiver = self.receiver.lock().unwrap();
        let receiver = receiver.as_mut().unwrap();
        while let Poll::Ready(Some(event)) = poll(receiver, &waker) {
            self.seen.lock().unwrap().push(event);
        }
    }
}

#[test]
fn a_waker_may_take_the_event_at_once() {
    let (sender, mut receiver): (Sender<u32>, _) = channel();
    let inline = Arc::new(Inline {
        receiver: Mutex::default(),
        seen: Mutex::default(),
    });
    let waker = Waker::from(Arc::clone(&inline));
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    *inline.receiver.lock().unwrap() = Some(receiver);
    (0..3).for_each(|event| sender.push(event).unwrap());
    assert_eq!(*inline.seen.lock().unwrap(), [0, 1, 2]);
    // A task that owns itself by its waker.
    drop(inline.receiver.lock().unwrap().take());
}

#[test]
fn a_future_receives_under_any_executor() {
    const EVENTS: u32 = if cfg!(miri) { 100 } else { 1000 };
    let (sender, mut receiver) = channel();
    let pushing = thread::spawn(move || (0..EVENTS).for_each(|event| sender.push(event).unwrap()));
    let (count, waker) = Counting::new();
    let mut sum = pin!(async {
        let mut sum = 0;
        while let Some(event) = std::future::poll_fn(|cx| receiver.poll_recv(cx)).await {
            sum += event;
        }
        sum
    });
    let mut cx = Context::from_waker(&waker);
    let total = loop {
        let woken = count.wakes();
        if let Poll::Ready(total) = sum.as_mut().poll(&mut cx) {
            break total;
        }
        while count.wakes() == woken {
            thread::yield_now();
        }
    };
    assert_eq!(total, (0..EVENTS).sum());
    pushing.join().unwrap();
}
