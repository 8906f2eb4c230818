//! The last owner of a value may be dropped on any thread: no thread waits for itself, nor in a
//! ring.

use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use filch_actors::BlockingThreads;
use filch_actors::timers::Timers;
use filch_scheduler::{Completion, Scheduler, ShutdownReport};

use crate::common::{Command, Test, handle, scheduler, scripted, summing};

/// Longer than anything takes that does not hang.
const HANGS: Duration = Duration::from_secs(60);

/// Makes a scheduler whose handler keeps `owned`, and tells when it is gone.
fn owner_of<T: Send + Sync + 'static>(owned: T) -> (Scheduler<Test>, Receiver<()>) {
    struct Gone<T>(Option<T>, Sender<()>);
    impl<T> Drop for Gone<T> {
        fn drop(&mut self) {
            drop(self.0.take());
            let _ = self.1.send(());
        }
    }
    let (say, gone) = mpsc::channel();
    let owned = Gone(Some(owned), say);
    let scheduler = Scheduler::builder()
        .workers(1)
        .handler(move |command: Command, completion: Completion<Test>| {
            let _kept = &owned;
            handle(command, completion);
        })
        .build();
    (scheduler.unwrap(), gone)
}

fn one_thread() -> BlockingThreads {
    BlockingThreads::new(NonZeroUsize::MIN)
}

#[test]
fn a_timer_drops_the_scheduler_whose_handler_has_the_last_timers() {
    let (pass, passed) = mpsc::channel::<Scheduler<Test>>();
    let (say, ended) = mpsc::channel();
    let timers = Timers::new().unwrap();
    timers
        .call_after(Duration::ZERO, move || {
            drop(passed.recv().unwrap());
            say.send(()).unwrap();
        })
        .unwrap();
    let (scheduler, gone) = owner_of(timers);
    pass.send(scheduler).unwrap();
    assert_eq!(ended.recv_timeout(HANGS), Ok(()));
    assert_eq!(gone.recv_timeout(HANGS), Ok(()));
}

#[test]
fn a_timer_shuts_a_scheduler_down_that_it_outlives() {
    let (say, ended) = mpsc::channel();
    let timers = Timers::new().unwrap();
    let (scheduler, gone) = owner_of(timers.clone());
    timers
        .call_after(Duration::ZERO, move || {
            say.send(scheduler.shutdown(HANGS)).unwrap();
        })
        .unwrap();
    let report = ended.recv_timeout(HANGS).unwrap();
    assert_eq!(report, Ok(ShutdownReport::default()));
    assert_eq!(gone.recv_timeout(HANGS), Ok(()));
}

/// The call waits for the step, which does not wait for the call.
#[test]
fn a_step_shuts_timers_down_whose_call_waits_for_it() {
    let scheduler = scheduler(1);
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let timers = Timers::new().unwrap();
    let set = timers.call_after(Duration::ZERO, move || {
        begin.send(()).unwrap();
        ended.recv().unwrap();
    });
    set.unwrap();
    let step = scripted(move |_, _, out| {
        begun.recv().unwrap();
        timers.shutdown();
        assert_eq!(timers.shutdown_timeout(HANGS), Ok(()));
        end.send(()).unwrap();
        out.done(7);
    });
    let process = scheduler.submit(step, "run", 0).unwrap();
    assert_eq!(process.join_timeout(HANGS).unwrap(), 7);
}

#[test]
fn blocking_work_drops_the_scheduler_whose_handler_has_its_threads() {
    let (pass, passed) = mpsc::channel::<Scheduler<Test>>();
    let (say, ended) = mpsc::channel();
    let threads = one_thread();
    let elsewhere = scheduler(1);
    threads.run(crate::timers::asked(&elsewhere).1, move || {
        drop(passed.recv().unwrap());
        say.send(()).unwrap();
        Ok(0)
    });
    let (scheduler, gone) = owner_of(threads);
    pass.send(scheduler).unwrap();
    assert_eq!(ended.recv_timeout(HANGS), Ok(()));
    assert_eq!(gone.recv_timeout(HANGS), Ok(()));
}

/// After the last process has ended, its worker drops the owner of its own scheduler.
#[test]
fn a_worker_drops_the_scheduler_whose_handler_has_the_workers_own() {
    let (pass, passed) = mpsc::channel::<Scheduler<Test>>();
    let (say, ended) = mpsc::channel();
    let (inner, within) = owner_of(());
    let process = inner.submit(summing(1), "run", 0).unwrap();
    let pid = process.pid();
    process.on_exit(move |_| {
        drop(passed.recv().unwrap());
        say.send(()).unwrap();
    });
    // Not before: the call would be made here.
    inner.send(pid, (0, 0)).unwrap();
    let (outer, gone) = owner_of(inner);
    pass.send(outer).unwrap();
    for sign in [ended, gone, within] {
        assert_eq!(sign.recv_timeout(HANGS), Ok(()));
    }
}

/// A timer drops threads, and these drop the timers. Both have begun before.
#[test]
fn two_services_drop_each_other() {
    let (pass_threads, threads_passed) = mpsc::channel::<BlockingThreads>();
    let (pass_timers, timers_passed) = mpsc::channel::<Timers>();
    let (say, said) = mpsc::channel();
    let (timers, threads) = (Timers::new().unwrap(), one_thread());
    let elsewhere = scheduler(1);
    let told = say.clone();
    threads.run(crate::timers::asked(&elsewhere).1, move || {
        told.send("begun").unwrap();
        drop(timers_passed.recv().unwrap());
        told.send("ended").unwrap();
        Ok(0)
    });
    timers
        .call_after(Duration::ZERO, move || {
            say.send("begun").unwrap();
            drop(threads_passed.recv().unwrap());
            say.send("ended").unwrap();
        })
        .unwrap();
    let twice = |what| (0..2).for_each(|_| assert_eq!(said.recv_timeout(HANGS), Ok(what)));
    twice("begun");
    pass_threads.send(threads).unwrap();
    pass_timers.send(timers).unwrap();
    twice("ended");
}
