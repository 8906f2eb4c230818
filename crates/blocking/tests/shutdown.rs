//! The end of a pool: it takes bounded time in any case, and names the calls that still run. The
//! calls here wait for a channel of the test, so they return when the test lets them.

use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use filch_blocking::{BlockingPool, is_blocking_thread};

const PATIENCE: Duration = Duration::from_secs(60);

fn pool(limit: usize) -> BlockingPool {
    BlockingPool::new(NonZeroUsize::new(limit).unwrap())
}

/// A call that has begun, and returns only when the test lets it.
struct Stuck {
    release: Sender<()>,
    returned: Receiver<()>,
}

impl Stuck {
    fn in_pool(pool: &BlockingPool, label: &'static str) -> Self {
        let (begin, begun) = mpsc::channel();
        let (release, gate) = mpsc::channel();
        let (say, returned) = mpsc::channel();
        pool.run_labelled(label, move || {
            begin.send(()).unwrap();
            gate.recv().unwrap();
            say.send(()).unwrap();
        })
        .unwrap();
        begun.recv().unwrap();
        Self { release, returned }
    }

    fn release(self) {
        self.release.send(()).unwrap();
        self.returned.recv().unwrap();
    }
}

/// A failure: it hangs.
#[test]
fn a_shutdown_returns_and_names_what_runs() {
    let pool = pool(4);
    let stuck = ["the first", "the second"].map(|label| Stuck::in_pool(&pool, label));
    let mut running = pool.shutdown(Duration::from_millis(1));
    running.sort_by(|a, b| a.thread.cmp(&b.thread));
    let named: Vec<_> = running
        .iter()
        .map(|call| (call.thread.as_str(), call.label.as_deref()))
        .collect();
    let expected = [
        ("filch-block-0", Some("the first")),
        ("filch-block-1", Some("the second")),
    ];
    assert_eq!(named, expected);
    let line = running[0].to_string();
    assert!(line.starts_with("filch-block-0: the first, for "), "{line}");
    // Late, and without harm.
    stuck.into_iter().for_each(Stuck::release);
}

/// A failure: it hangs; or work that had not begun runs after all.
#[test]
fn a_drop_waits_for_nothing() {
    let pool = pool(1);
    let stuck = Stuck::in_pool(&pool, "stuck");
    let (kept, dropped) = mpsc::channel::<()>();
    pool.run(move || {
        let _ = kept.send(());
    })
    .unwrap();
    drop(pool);
    assert!(dropped.recv().is_err(), "dropped, and not run");
    stuck.release();
}

#[test]
fn a_shutdown_waits_for_what_returns_in_time() {
    let pool = pool(2);
    let Stuck { release, returned } = Stuck::in_pool(&pool, "slow");
    let releasing = std::thread::spawn(move || release.send(()).unwrap());
    assert_eq!(pool.shutdown(PATIENCE), []);
    assert_eq!(returned.try_recv(), Ok(()));
    releasing.join().unwrap();
}

/// A failure: it waits for itself, until its patience is over.
#[test]
fn a_call_shuts_its_own_pool_down() {
    let pool = pool(1);
    let (pass, passed) = mpsc::channel::<BlockingPool>();
    let (say, said) = mpsc::channel();
    pool.run_labelled("its own", move || {
        let running = passed.recv().unwrap().shutdown(Duration::MAX);
        say.send((
            running.len(),
            running[0].label.clone(),
            is_blocking_thread(),
        ))
        .unwrap();
    })
    .unwrap();
    pass.send(pool).unwrap();
    assert_eq!(said.recv(), Ok((1, Some("its own".into()), true)));
}

/// A failure: a number is used twice at a time, or never again.
#[test]
fn threads_have_the_first_number_that_is_free() {
    let pool = pool(3);
    let stuck: Vec<_> = (0..3).map(|_| Stuck::in_pool(&pool, "stuck")).collect();
    assert_eq!(pool.threads(), 3);
    let mut names: Vec<_> = pool.running().into_iter().map(|call| call.thread).collect();
    names.sort();
    assert_eq!(names, ["filch-block-0", "filch-block-1", "filch-block-2"]);
    stuck.into_iter().for_each(Stuck::release);
    let again = Stuck::in_pool(&pool, "again");
    let running = pool.running();
    let again_on = running
        .iter()
        .find(|call| call.label.as_deref() == Some("again"));
    assert!(names.contains(&again_on.unwrap().thread));
    again.release();
}

#[test]
fn a_call_that_panics_has_ended() {
    let pool = pool(1);
    pool.run(|| panic!("contained")).unwrap();
    let next = Stuck::in_pool(&pool, "next");
    assert_eq!(pool.running().len(), 1);
    next.release();
    assert_eq!(pool.shutdown(PATIENCE), []);
}
