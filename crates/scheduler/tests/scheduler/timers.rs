//! Timers on a clock that the test moves: nothing here sleeps or measures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use filch_scheduler::timers::{FakeClock, Timers, ZeroPeriod};
use filch_scheduler::{Completion, Event, JoinError, ProcessError, ProcessHandle, Scheduler};

use crate::common::{Command, Test, scheduler, scripted, summing};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn fake() -> (FakeClock, Timers) {
    let clock = FakeClock::new();
    let timers = Timers::with_clock(clock.clone()).unwrap();
    (clock, timers)
}

/// A process that has yielded one command, and its completion. It is done with the reply, or fails
/// with the error.
pub(crate) fn asked(scheduler: &Scheduler<Test>) -> (ProcessHandle<Test>, Completion<Test>) {
    let (give, completions) = mpsc::channel();
    let process = scripted(move |_, mut events, out| {
        match events.pop() {
            Some(Event::Completed { result, .. }) => {
                out.done(result.map_err(|error| error.to_string())?);
            }
            _ => {
                out.yield_command(0, Command::Give(give.clone()));
                out.wait();
            }
        }
        Ok(())
    });
    let process = scheduler.submit(process, "run", 0).unwrap();
    (process, completions.recv().unwrap())
}

pub(crate) fn failure(process: ProcessHandle<Test>) -> String {
    match process.join() {
        Err(JoinError::Process(ProcessError::Failed(message))) => message,
        other => panic!("{other:?}"),
    }
}

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
        timers.call_at(start + seconds * SECOND, move || {
            fired.lock().unwrap().push((name, clock.elapsed()));
        });
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

/// Against a list that is sorted: any mixture of setting, cancelling and advancing.
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
        let key = timers.call_after(deadline - clock.elapsed(), {
            let fired = Arc::clone(&fired);
            move || fired.lock().unwrap().push(name)
        });
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
fn a_command_that_sleeps() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    timers.complete_after(SECOND, completion, 5);
    clock.advance(SECOND - Duration::from_nanos(1));
    assert!(!process.has_ended());
    assert_eq!(timers.pending(), 1);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(process.join().unwrap(), 5);
}

#[test]
fn a_cancelled_sleep_and_a_dropped_guard_are_heard_of() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let (process, completion) = asked(&scheduler);
    let key = timers.complete_after(SECOND, completion, 5);
    assert!(timers.cancel(key));
    assert!(failure(process).contains("without completing"));

    let (process, completion) = asked(&scheduler);
    drop(timers.guard(timers.complete_after(SECOND, completion, 5)));
    assert!(failure(process).contains("without completing"));

    let (process, completion) = asked(&scheduler);
    let _ = timers
        .guard(timers.complete_after(SECOND, completion, 5))
        .disarm();
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 5);
    // A key of other timers means nothing to these.
    let (_, others) = fake();
    let key = others.call_after(SECOND, || {});
    assert!(!timers.cancel(key));
    assert!(others.cancel(key));
}

#[test]
fn a_deadline_lets_one_of_the_two_answer() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let limit = || timers.now() + SECOND;

    let (process, completion) = asked(&scheduler);
    let bounded = timers.deadline(limit(), completion, "too late".to_owned());
    assert_eq!(bounded.pid(), process.pid());
    assert_eq!(bounded.complete(1), Ok(()));
    assert_eq!(process.join().unwrap(), 1);
    assert_eq!(timers.pending(), 0, "in time: the timer is gone");

    let (process, completion) = asked(&scheduler);
    let bounded = timers.deadline(limit(), completion, "too late".to_owned());
    assert_eq!(bounded.fail("no".to_owned()), Ok(()));
    assert_eq!(failure(process), "no");

    let (process, completion) = asked(&scheduler);
    let bounded = timers.deadline(limit(), completion, "too late".to_owned());
    clock.advance(SECOND);
    assert_eq!(failure(process), "too late");
    assert_eq!(bounded.complete(1), Err(1));

    let (process, completion) = asked(&scheduler);
    drop(timers.deadline(limit(), completion, "too late".to_owned()));
    assert!(failure(process).contains("without completing"));
    assert_eq!(timers.pending(), 0);
}

#[test]
fn an_interval_ticks_until_its_process_ends() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(3), "run", 0).unwrap();
    let mut ticks = 0;
    let message = move || {
        ticks += 1;
        (0, ticks)
    };
    let key = timers
        .interval(SECOND, &scheduler, process.pid(), message)
        .unwrap();
    clock.advance(SECOND / 2);
    clock.advance(5 * SECOND / 2);
    assert_eq!(process.join().unwrap(), 1 + 2 + 3);
    assert_eq!(timers.pending(), 1, "it has not noticed yet");
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
    assert!(!timers.cancel(key));
}

/// Its mailbox is full, then it has room again: two turns are left out.
#[test]
fn an_interval_leaves_out_turns_for_which_there_is_no_room() {
    let (clock, timers) = fake();
    let scheduler = scheduler(1);
    let (entered, inside) = mpsc::channel();
    let (go_on, gate) = mpsc::channel::<()>();
    let mut sum = 0;
    let process = scripted(move |_, events, out| {
        for event in &events {
            if let Event::Message((_, value)) = event {
                sum += value;
            }
        }
        match sum {
            0 => {
                entered.send(()).unwrap();
                gate.recv().unwrap();
                out.idle();
            }
            1 => out.idle(),
            _ => out.done(sum),
        }
        Ok(())
    });
    let process = scheduler
        .submission(process, "run", 0)
        .mailbox(1)
        .submit()
        .unwrap();
    inside.recv().unwrap();
    let mut ticks = 0;
    let message = move || {
        ticks += 1;
        (0, ticks)
    };
    timers
        .interval(SECOND, &scheduler, process.pid(), message)
        .unwrap();
    clock.advance(3 * SECOND);
    assert_eq!(timers.pending(), 1, "it lives, and nobody has cancelled");
    go_on.send(()).unwrap();
    scheduler.wait_for_standstill().unwrap();
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 1 + 4);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
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
    assert_eq!(zero, Err(ZeroPeriod));
}

#[test]
fn a_message_at_a_time_and_none_to_the_dead() {
    let (clock, timers) = fake();
    let scheduler = scheduler(2);
    let process = scheduler.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    timers.send_at(timers.now() + SECOND, &scheduler, pid, (0, 9));
    timers.send_at(timers.now() + 2 * SECOND, &scheduler, pid, (0, 10));
    clock.advance(SECOND);
    assert_eq!(process.join().unwrap(), 9);
    clock.advance(SECOND);
    assert_eq!(timers.pending(), 0);
}

#[test]
fn a_panic_costs_one_timer() {
    let (clock, timers) = fake();
    let (give, take) = mpsc::channel();
    timers.call_after(SECOND, || panic!("one"));
    timers.call_every(SECOND, || panic!("every")).unwrap();
    timers.call_after(SECOND, move || give.send(1).unwrap());
    clock.advance(SECOND);
    assert_eq!(take.recv().unwrap(), 1);
    assert_eq!(timers.pending(), 0, "an interval that panics is over");
}

#[test]
fn a_delay_that_no_clock_can_tell_is_just_long() {
    let (clock, timers) = fake();
    let key = timers.call_after(Duration::MAX, || panic!("it is early"));
    clock.advance(1_000_000 * SECOND);
    assert!(timers.cancel(key));
}
