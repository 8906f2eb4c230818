//! The user code that threads are in, for a caller that waits for them no longer.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use filch_processors::{Config, Inside, Processors, Runner, RunningTask};

type Pool = Processors<Work>;

struct Work(u64, Box<dyn FnOnce(&Pool) + Send>);

/// Waits in its destructor, if it is told to.
struct Labels(Mutex<Option<mpsc::Receiver<()>>>);

impl Runner<Work> for Labels {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn label(&self, task: &Work) -> Option<NonZeroU64> {
        NonZeroU64::new(task.0)
    }

    fn run(&self, task: Work, pool: &Arc<Pool>, (): &mut ()) {
        (task.1)(pool);
    }
}

impl Drop for Labels {
    fn drop(&mut self) {
        let gate = self.0.get_mut().unwrap().take();
        gate.map(|gate| gate.recv());
    }
}

/// Looks until the pool runs just that.
fn wait_for(pool: &Pool, inside: Inside, label: Option<u64>) -> RunningTask {
    loop {
        let label = label.and_then(NonZeroU64::new);
        match pool.running().as_slice() {
            [task] if task.inside == inside && task.label == label => return task.clone(),
            _ => std::thread::yield_now(),
        }
    }
}

/// A task, a blocking call, and the end, each kept by a channel. A failure: the test hangs, as one
/// is not shown, or something else is; or a time goes backwards.
#[test]
fn a_task_a_call_and_the_end_are_told_apart() {
    let pool = Pool::new(Config::default().processors(2).thread_name("busy")).unwrap();
    let (last, end) = mpsc::channel::<()>();
    let labels = Labels(Mutex::new(Some(end)));
    let machines = Processors::start(&pool, Arc::new(labels)).unwrap();
    assert_eq!(pool.running(), []);
    let (go_on, gate) = mpsc::channel::<()>();
    pool.inject(Work(
        7,
        Box::new(move |pool| {
            gate.recv().unwrap();
            pool.blocking(|| gate.recv().unwrap());
        }),
    ));
    let first = wait_for(&pool, Inside::Task, Some(7));
    assert!(first.thread.starts_with("busy-"), "{first:?}");
    let second = wait_for(&pool, Inside::Task, Some(7));
    assert!(second.elapsed >= first.elapsed);
    go_on.send(()).unwrap();
    let call = wait_for(&pool, Inside::BlockingCall, Some(7));
    assert_eq!(call.thread, first.thread);
    // From the first look on.
    while wait_for(&pool, Inside::BlockingCall, Some(7)).elapsed == Duration::ZERO {}
    go_on.send(()).unwrap();
    pool.stop();
    let end = wait_for(&pool, Inside::End, None);
    assert!(end.thread.starts_with("busy-"), "{end:?}");
    drop(last);
    machines.join();
    assert_eq!(pool.running(), []);
}
