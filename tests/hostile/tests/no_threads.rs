//! A system that refuses threads, for a while: what was submitted runs or comes back, and all goes
//! on when there are threads again.
#![cfg(target_os = "linux")]

use std::convert::Infallible;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use filch_actors::BlockingThreads;
use filch_actors::prelude::*;
use filch_blocking::BlockingPool;
use filch_fork_join::{Pool, StartError};
use filch_processors::{Config, PoolError, Processors, Runner};
use filch_scheduler::{CommandError, Completion, Event, Process, Protocol, Scheduler, from_fn};
use filch_timers::Timers;
use hostile_tests::{allow_threads, in_a_process_of_its_own, refuse_threads};

const FOUR: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Something that has begun, and ends when the test lets it.
struct Stuck(Sender<()>);

impl Stuck {
    /// Begins it: `run` is told what to run.
    fn begin(run: impl FnOnce(Box<dyn FnOnce() + Send>)) -> Self {
        let (begin, begun) = channel();
        let (end, gate) = channel();
        run(Box::new(move || {
            begin.send(()).unwrap();
            gate.recv().unwrap();
        }));
        begun.recv().unwrap();
        Self(end)
    }

    fn end(&self) {
        self.0.send(()).unwrap();
    }
}

/// Returns work that tells its number, and the receiver.
fn telling() -> (impl Fn(u32) -> Job, Receiver<u32>) {
    let (tell, told) = channel();
    let work = move |number| {
        let tell = tell.clone();
        Box::new(move || tell.send(number).unwrap()) as Job
    };
    (work, told)
}

type Job = Box<dyn FnOnce() + Send>;

/// A failure: it runs here, and its panic comes out of `run`.
#[test]
fn the_first_call_for_which_there_is_no_thread_comes_back() {
    in_a_process_of_its_own(
        "the_first_call_for_which_there_is_no_thread_comes_back",
        || {
            let pool = BlockingPool::new(FOUR);
            refuse_threads();
            let refused = pool.run(|| panic!("the call's own")).unwrap_err();
            assert_eq!(refused.error.kind(), ErrorKind::WouldBlock);
            allow_threads();
            pool.run(refused.work).unwrap();
            let (work, told) = telling();
            pool.run(work(0)).unwrap();
            assert_eq!(told.recv(), Ok(0));
        },
    );
}

/// The one thread is in a call that waits for what the second call does. A failure: the second one
/// is kept, and nobody comes for it.
#[test]
fn a_call_that_another_one_waits_for_comes_back() {
    in_a_process_of_its_own("a_call_that_another_one_waits_for_comes_back", || {
        let pool = BlockingPool::new(FOUR);
        let first = Stuck::begin(|call| pool.run(call).unwrap());
        let (work, told) = telling();
        refuse_threads();
        let refused = pool.run(work(2)).unwrap_err();
        assert_eq!(refused.error.kind(), ErrorKind::WouldBlock);
        // A thread that has come back is asked for nothing.
        first.end();
        while let Err(refused) = pool.run(work(1)) {
            drop(refused);
        }
        assert_eq!(told.recv(), Ok(1));
        allow_threads();
        let _first = Stuck::begin(|call| pool.run(call).unwrap());
        pool.run(refused.work).unwrap();
        assert_eq!(told.recv(), Ok(2));
    });
}

enum Asking {}

impl Protocol for Asking {
    type Input = ();
    type Message = ();
    type Command = Job;
    type Reply = ();
    type Output = u32;
    type Error = String;
}

/// Asks for its work until it is done, and counts how often it was refused a thread.
fn asker(work: impl Fn(u32) -> Job + Send) -> impl Process<Asking> {
    let mut refused = 0;
    from_fn(move |_, events, out| {
        for event in events {
            match event {
                Event::Completed { result: Ok(()), .. } => {
                    out.done(refused);
                    return Ok(());
                }
                Event::Completed {
                    result: Err(CommandError::NoThread(error)),
                    ..
                } if error.kind() == ErrorKind::WouldBlock => {
                    refused += 1;
                    allow_threads();
                }
                other => return Err(format!("{other:?}")),
            }
        }
        out.yield_command(0, work(refused));
        out.wait();
        Ok(())
    })
}

/// A failure: the command runs on the worker; or its process never hears of it.
#[test]
fn a_command_for_which_there_is_no_thread_is_answered() {
    in_a_process_of_its_own("a_command_for_which_there_is_no_thread_is_answered", || {
        let threads = BlockingThreads::new(FOUR);
        let scheduler = Scheduler::builder()
            .workers(1)
            .handler(move |work: Job, completion: Completion<Asking>| {
                threads.run(completion, || {
                    work();
                    Ok(())
                });
            })
            .build()
            .unwrap();
        let (work, told) = telling();
        refuse_threads();
        assert_eq!(scheduler.execute(asker(work), "", ()).unwrap(), 1);
        assert_eq!(told.recv(), Ok(1), "the first time it was refused");
    });
}

/// Where nothing could run at all, the start says so, and can be tried again.
#[test]
fn a_start_without_a_thread_says_why() {
    in_a_process_of_its_own("a_start_without_a_thread_says_why", || {
        refuse_threads();
        let processors = Processors::<Infallible>::new(Config::default()).unwrap();
        let started = Processors::start(&processors, Arc::new(NoTasks));
        assert!(
            matches!(started, Err(PoolError::Thread(_))),
            "no processors"
        );
        let kind = |error: StartError| match error {
            StartError::Thread(error) => error.kind(),
            other => panic!("{other}"),
        };
        assert_eq!(kind(Pool::new(2).unwrap_err()), ErrorKind::WouldBlock);
        assert_eq!(kind(Pool::global().unwrap_err()), ErrorKind::WouldBlock);
        assert_eq!(Timers::new().unwrap_err().kind(), ErrorKind::WouldBlock);
        allow_threads();
        assert_eq!(filch_fork_join::join(|| 1, || 2), (1, 2));
    });
}

/// The only thread is in a call that waits for a later task, and the one for the first of these is
/// refused. A failure: nobody asks again, and it hangs.
#[test]
fn what_a_call_waits_for_runs_when_there_is_a_thread_again() {
    in_a_process_of_its_own(
        "what_a_call_waits_for_runs_when_there_is_a_thread_again",
        || {
            let processors = Processors::<Job>::new(Config::default().processors(1)).unwrap();
            let machines = Processors::start(&processors, Arc::new(Jobs)).unwrap();
            let call = Stuck::begin(|call| {
                let pool = Arc::clone(&processors);
                processors.inject(Box::new(move || pool.blocking(call)));
            });
            let (work, told) = telling();
            refuse_threads();
            processors.inject(work(1));
            processors.inject(work(2));
            allow_threads();
            processors.inject(work(3));
            let ran = std::array::from_fn(|_| told.recv().unwrap());
            assert_eq!(ran, [1, 2, 3]);
            call.end();
            processors.stop();
            machines.join();
        },
    );
}

struct Jobs;

impl Runner<Job> for Jobs {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn run(&self, job: Job, _: &Arc<Processors<Job>>, (): &mut ()) {
        job();
    }
}

struct NoTasks;

impl Runner<Infallible> for NoTasks {
    type Scratch = ();

    fn scratch(&self, _: usize) {}

    fn run(&self, task: Infallible, _: &Arc<Processors<Infallible>>, (): &mut ()) {
        match task {}
    }
}
