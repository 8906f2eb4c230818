//! The calls that fire, their times and their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use filch_timers::NotSet;

use crate::{SECOND, fake};

#[test]
fn earlier_deadlines_first_then_in_the_order_of_registration() {
    let (clock, timers) = fake();
    let fired = Arc::new(Mutex::new(Vec::new()));
    let start = timers.now();
    for (name, seconds) in [
        (0, 3),
        (1, 1),
        (2, 3),
        (3, 2),
        (4, 1),
        (5, 9),
        (6, 3),
        (7, 0),
    ] {
        let (fired, clock) = (Arc::clone(&fired), clock.clone());
        timers
            .call_at(start + seconds * SECOND, move || {
                fired.lock().unwrap().push((name, clock.elapsed()));
            })
            .unwrap();
    }
    clock.advance(Duration::ZERO);
    assert_eq!(*fired.lock().unwrap(), [(7, Duration::ZERO)]);
    clock.advance(3 * SECOND);
    let expected = [(7, 0), (1, 1), (4, 1), (3, 2), (0, 3), (2, 3), (6, 3)];
    let expected = expected.map(|(name, seconds)| (name, seconds * SECOND));
    assert_eq!(
        *fired.lock().unwrap(),
        expected,
        "each at its own time, all by three seconds"
    );
    assert_eq!(timers.pending(), 1);
    assert_eq!(clock.elapsed(), 3 * SECOND);
}

/// A wanted call comes with its value; an unwanted one goes when others are set, with its values.
#[test]
fn a_call_comes_while_it_is_wanted() {
    let (clock, timers) = fake();
    let (tell, told) = mpsc::channel();
    let value = Arc::new(7);
    for is_wanted in [true, false] {
        let (value, tell) = (Arc::clone(&value), tell.clone());
        let call = move |value: Arc<i32>| tell.send((is_wanted, *value)).unwrap();
        timers
            .call_at_while(timers.after(SECOND), value, move |_| is_wanted, call)
            .unwrap();
    }
    // Each call checks others in turn.
    timers
        .call_at_while(timers.after(SECOND), (), |()| true, drop)
        .unwrap();
    assert_eq!((timers.pending(), Arc::strong_count(&value)), (2, 2));
    clock.advance(SECOND);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(true, 7)]);
    assert_eq!((timers.pending(), Arc::strong_count(&value)), (0, 1));
}

#[test]
fn what_is_wanted_no_more_when_its_time_comes_is_not_called() {
    let (clock, timers) = fake();
    let (is_wanted, called) = (Arc::new(Mutex::new(true)), Arc::new(AtomicUsize::new(0)));
    for value in [Some(Arc::clone(&is_wanted)), None] {
        let wants = |value: &Option<Arc<Mutex<bool>>>| match value {
            Some(flag) => *flag.lock().unwrap(),
            None => panic!("that says that it is wanted"),
        };
        let called = Arc::clone(&called);
        timers
            .call_at_while(timers.after(SECOND), value, wants, move |_| {
                called.fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
    }
    assert_eq!(timers.pending(), 2);
    *is_wanted.lock().unwrap() = false;
    clock.advance(SECOND);
    assert_eq!(called.load(Ordering::Relaxed), 1);
}

/// Compares with a sorted list: any mixture of setting, cancelling and advancing.
#[test]
fn a_thousand_timers_fire_as_a_sorted_list_says() {
    let (clock, timers) = fake();
    let fired = Arc::new(Mutex::new(Vec::new()));
    let mut model = Vec::new();
    let mut expected = Vec::new();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for name in 0..1_000 {
        let deadline = clock.elapsed() + Duration::from_millis(next(50));
        let key = timers
            .call_after(deadline - clock.elapsed(), {
                let fired = Arc::clone(&fired);
                move || fired.lock().unwrap().push(name)
            })
            .unwrap();
        model.push((deadline, name, key));
        if next(4) == 0 {
            let victim = next(model.len() as u64) as usize;
            let (.., key) = model.remove(victim);
            assert!(timers.cancel(key), "it was pending");
            assert!(!timers.cancel(key), "once is enough");
        }
        if next(3) == 0 {
            clock.advance(Duration::from_millis(next(20)));
            model.sort_by_key(|&(deadline, name, _)| (deadline, name));
            while model
                .first()
                .is_some_and(|first| first.0 <= clock.elapsed())
            {
                let (_, name, key) = model.remove(0);
                assert!(!timers.cancel(key), "it has fired");
                expected.push(name);
            }
        }
        assert_eq!(timers.pending(), model.len());
    }
    assert_eq!(*fired.lock().unwrap(), expected);
}

#[test]
fn an_interval_cancelled_by_its_own_tick_is_over() {
    let (clock, timers) = fake();
    let ticks = Arc::new(AtomicUsize::new(0));
    let own = Arc::new(Mutex::new(None));
    let key = timers.call_every(SECOND, {
        let (timers, ticks, own) = (timers.clone(), Arc::clone(&ticks), Arc::clone(&own));
        move || {
            if ticks.fetch_add(1, Ordering::Relaxed) == 1 {
                let key = own.lock().unwrap().take().unwrap();
                assert!(timers.cancel(key), "it would have gone on");
            }
            true
        }
    });
    *own.lock().unwrap() = Some(key.unwrap());
    clock.advance(10 * SECOND);
    assert_eq!(ticks.load(Ordering::Relaxed), 2);
    assert_eq!(timers.pending(), 0);
    let zero = timers.call_every(Duration::ZERO, || true);
    assert!(matches!(zero, Err(NotSet::ZeroPeriod(_))));
}

#[test]
fn a_panic_costs_one_timer() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    timers.call_after(SECOND, || panic!("one")).unwrap();
    timers.call_every(SECOND, || panic!("every")).unwrap();
    timers
        .call_after(SECOND, move || give.send(1).unwrap())
        .unwrap();
    clock.advance(SECOND);
    assert_eq!(take.recv().unwrap(), 1);
    assert_eq!(timers.pending(), 0, "an interval that panics is over");
}

#[test]
fn a_delay_that_no_clock_can_tell_is_just_long() {
    let (clock, timers) = fake();
    let key = timers
        .call_after(Duration::MAX, || panic!("it is early"))
        .unwrap();
    clock.advance(1_000_000 * SECOND);
    assert!(timers.cancel(key));
}

#[test]
fn an_interval_goes_on_until_it_says_that_it_is_over() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    let mut turns = 0;
    let key = timers.call_every(SECOND, {
        let clock = clock.clone();
        move || {
            turns += 1;
            give.send(clock.elapsed()).unwrap();
            turns < 3
        }
    });
    clock.advance(5 * SECOND / 2);
    assert_eq!(timers.pending(), 1);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
    assert!(!timers.cancel(key.unwrap()));
    clock.advance(SECOND);
    let turns: Vec<_> = take.iter().collect();
    assert_eq!(turns, [SECOND, 2 * SECOND, 3 * SECOND]);
}

#[test]
fn a_dropped_guard_cancels_and_a_disarmed_one_does_not() {
    let (clock, timers) = fake();
    drop(
        timers.guard(
            timers
                .call_after(SECOND, || panic!("it is cancelled"))
                .unwrap(),
        ),
    );
    assert_eq!(timers.pending(), 0);

    let (give, take) = mpsc::channel();
    let key = timers
        .call_after(SECOND, move || give.send(7).unwrap())
        .unwrap();
    assert_eq!(timers.guard(key).disarm(), key);
    clock.advance(SECOND);
    assert_eq!(take.recv(), Ok(7));
}

#[test]
fn a_key_of_other_timers_names_none_of_these() {
    let (_, timers) = fake();
    timers.call_after(SECOND, || {}).unwrap();
    let (_, others) = fake();
    let key = others.call_after(SECOND, || {}).unwrap();
    assert!(!timers.cancel(key));
    assert!(others.cancel(key));
    assert_eq!(timers.pending(), 1);
}

#[test]
fn what_a_timer_fires_may_set_another_one() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    timers
        .call_after(SECOND, {
            let (timers, clock) = (timers.clone(), clock.clone());
            move || {
                timers
                    .call_after(SECOND, move || give.send(clock.elapsed()).unwrap())
                    .unwrap();
            }
        })
        .unwrap();
    clock.advance(3 * SECOND);
    assert_eq!(take.recv(), Ok(2 * SECOND), "in the same move, at its time");
}
