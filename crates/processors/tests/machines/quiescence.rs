//! Idle priority, quiescence, and the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use filch_processors::{NeverQuiescent, Processors};

use crate::pool::{Jobs, Pool, finish, job, processors, started};

/// On one processor the order is exact: what has idle priority comes last, in its own order.
#[test]
fn b10_idle_priority_comes_last() {
    let pool = Pool::new(processors(1)).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let order = Arc::clone(&order);
        job(move |_| order.lock().unwrap().push(what))
    };
    pool.schedule_idle(note("idle 1"));
    pool.schedule_idle(note("idle 2"));
    pool.inject(note("a"));
    let later = note("c");
    let order_b = Arc::clone(&order);
    pool.inject(job(move |pool| {
        order_b.lock().unwrap().push("b");
        pool.schedule(later);
    }));
    let machines = Processors::start(&pool, Arc::new(Jobs)).unwrap();
    pool.wait_quiescent(None).unwrap();
    assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "idle 1", "idle 2"]);
    // It wakes a pool in which nothing else happens, and is run before the threads exit.
    pool.schedule_idle(note("idle 3"));
    pool.wait_quiescent(None).unwrap();
    pool.schedule_idle(note("idle 4"));
    finish(&pool, machines);
    assert_eq!(order.lock().unwrap()[5..], ["idle 3", "idle 4"]);
    assert_eq!(pool.stats()[0].idle_priority, 4);
}

/// While a call is under way the pool is not quiescent, though all processors are idle; when the
/// pool is quiescent, all that was scheduled has run.
#[test]
fn b8_quiescence_is_exact() {
    let (pool, machines) = started(processors(2));
    let (began, has_begun) = mpsc::channel();
    let (to, from) = mpsc::channel::<()>();
    pool.inject(job(move |pool| {
        pool.blocking(|| {
            began.send(()).unwrap();
            from.recv().unwrap();
        });
    }));
    has_begun.recv().unwrap();
    for _ in 0..1_000 {
        assert!(!pool.is_quiescent());
    }
    to.send(()).unwrap();
    pool.wait_quiescent(None).unwrap();
    for round in 0..500 {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let ran = Arc::clone(&ran);
            pool.inject(job(move |pool| {
                let inner = Arc::clone(&ran);
                pool.schedule(job(move |pool| {
                    if round % 10 == 0 {
                        pool.blocking(|| ());
                    }
                    inner.fetch_add(1, Ordering::Relaxed);
                }));
            }));
        }
        pool.wait_quiescent(None).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    }
    finish(&pool, machines);
}

/// A call that does not return: the wait for quiescence does.
#[test]
fn a_wait_for_quiescence_has_a_limit() {
    let (pool, machines) = started(processors(2));
    let (began, has_begun) = mpsc::channel();
    let (to, from) = mpsc::channel::<()>();
    pool.inject(job(move |_| {
        began.send(()).unwrap();
        from.recv().unwrap();
    }));
    has_begun.recv().unwrap();
    let soon = || Instant::now() + Duration::from_millis(1);
    assert_eq!(pool.wait_quiescent(Some(Instant::now())), Ok(false));
    assert_eq!(pool.wait_quiescent(Some(soon())), Ok(false));
    to.send(()).unwrap();
    let late = Instant::now() + Duration::from_secs(600);
    assert_eq!(pool.wait_quiescent(Some(late)), Ok(true));
    assert_eq!(pool.wait_quiescent(Some(Instant::now())), Ok(true));
    finish(&pool, machines);
}

#[test]
fn what_comes_after_the_end_stays() {
    let (pool, machines) = started(processors(2));
    let (to, from) = mpsc::channel();
    let ran = to.clone();
    pool.inject(job(move |_| ran.send("in time").unwrap()));
    finish(&pool, machines);
    assert_eq!(pool.wait_quiescent(None), Ok(true));
    pool.inject(job(move |_| to.send("too late").unwrap()));
    assert_eq!(pool.wait_quiescent(None), Err(NeverQuiescent));
    assert_eq!(from.recv(), Ok("in time"));
    assert!(from.try_recv().is_err());
    drop(pool);
    assert!(from.recv().is_err(), "dropped with the pool, unrun");
}
