//! Each public call, at each moment of a worker's life, on its thread and on another one: an answer
//! or an error comes in time, and so does the engine's end. The cells are made from two tables,
//! [`calls`] and [`moments`]; those that are left out are listed with the reason.

mod calls;
mod contexts;
mod moments;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::common::{until, within};
use calls::{CALLS, Call, Waits};
use filch_engine::{Engine, Scheduler, Stage, Worker, WorkerHandle};
use moments::{Aim, MOMENTS, Moment};

#[derive(Clone, Debug)]
struct Ping;

/// A task that is not over before the engine ends.
#[derive(Clone, Debug)]
struct Endless;

/// Has a worker beside the victim make the call.
#[derive(Clone)]
struct Poke;

/// The thread of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Inside,
    Outside,
}

/// The cells that are left out: moment, thread, and the reason.
const LEFT_OUT: [(&str, From, &str); 1] = [(
    "lets others' data go",
    From::Inside,
    "no code of the user's runs then, its own or another worker's",
)];

/// An engine with a victim in it.
struct Scene {
    engine: Engine,
    scheduler: Scheduler,
    victim: OnceLock<WorkerHandle>,
    /// Set when the call is about to be made.
    has_begun: AtomicBool,
}

impl Scene {
    /// Makes an engine with the two schedulers `here`, for the victim, and `there`.
    fn new() -> Arc<Self> {
        let engine = Engine::new();
        let start = |name: &str| engine.scheduler(name).unwrap();
        let (scheduler, there) = (start("here"), start("there"));
        let endless = Worker::new("endless").receives::<Endless>().in_fiber();
        let endless = endless.run(|context| {
            let received = context.receive::<Endless>();
            while context.give_way().is_ok() {}
            drop(received);
        });
        there.add(endless).unwrap();
        Arc::new(Self {
            engine,
            scheduler,
            victim: OnceLock::new(),
            has_begun: AtomicBool::new(false),
        })
    }

    /// Returns the victim, which is told of at once after it is added.
    fn victim(&self) -> &WorkerHandle {
        until(|| self.victim.get().is_some());
        self.victim.get().unwrap()
    }

    /// Ends the engine, which must come.
    fn end(&self, cell: &str) {
        self.engine.terminate();
        let engine = self.engine.clone();
        within(&format!("{cell}: the engine's end"), move || {
            engine.join().unwrap();
        });
    }
}

/// Makes the call once, wherever it is aimed.
struct Shot {
    scene: Arc<Scene>,
    call: Call,
    from: From,
    is_used: AtomicBool,
    /// Tells whether the call was refused, as it came from inside.
    tells: Sender<bool>,
}

impl Shot {
    /// Returns code that fires.
    fn fires(self: &Arc<Self>) -> impl Fn() + Send + use<> {
        let shot = Arc::clone(self);
        move || shot.fire()
    }

    /// Is called at the moment, on the thread of the scheduler. A call from outside is begun before
    /// this returns.
    fn fire(self: &Arc<Self>) {
        if self.is_used.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.from {
            From::Inside => self.make(),
            From::Outside => {
                let shot = Arc::clone(self);
                thread::spawn(move || shot.make());
                until(|| self.scene.has_begun.load(Ordering::Relaxed));
                (0..10).for_each(|_| thread::yield_now());
            }
        }
    }

    fn make(&self) {
        self.scene.victim();
        self.scene.has_begun.store(true, Ordering::Relaxed);
        let _ = self.tells.send((self.call)(&self.scene));
    }
}

/// Tries one cell.
fn attack(moment: &Moment, from: From, (name, waits, call): (&str, Waits, Call)) {
    let cell = format!("{name}, while it {}, from {from:?}", moment.name);
    let scene = Scene::new();
    let (tells, hears) = channel();
    let shot = Arc::new(Shot {
        scene: Arc::clone(&scene),
        call,
        from,
        is_used: AtomicBool::new(false),
        tells,
    });
    if moment.aim != Aim::Hook {
        let shot = Arc::clone(&shot);
        let beside = Worker::new("beside").on(move |_: &Poke| shot.fire());
        scene.scheduler.add(beside).unwrap();
    }
    let victim = scene.scheduler.add((moment.victim)(&shot)).unwrap();
    assert!(scene.victim.set(victim.clone()).is_ok());
    (moment.lead)(&scene, &shot);
    match moment.aim {
        Aim::Hook => {}
        Aim::Stage(stage) => {
            until(|| victim.stage() == stage && (stage != Stage::Gone || victim.exit().is_some()));
            scene.engine.broadcast(Poke);
        }
        // Calls that come again and again hit each stage up to the end. Each may add a worker, and
        // the engine ends them all: not more than it can in time.
        Aim::Passing => {
            thread::spawn(move || {
                shot.scene.has_begun.store(true, Ordering::Relaxed);
                let has_left = || shot.scene.victim().exit().is_some();
                (0..16_000).take_while(|_| !has_left()).for_each(|_| {
                    call(&shot.scene);
                });
                until(has_left);
                shot.make();
            });
            until(|| victim.stage() >= Stage::Runs);
            // A call may have ended it before.
            let _ = victim.remove();
            until(|| victim.exit().is_some());
        }
    }
    until(|| scene.has_begun.load(Ordering::Relaxed));
    scene.end(&cell);
    let is_refused = within(&cell, move || hears.recv());
    let may_refuse = match waits {
        Waits::Never => false,
        Waits::ForEngine => true,
        Waits::ForWorker => moment.aim != Aim::Stage(Stage::Gone),
    };
    assert_eq!(is_refused, Ok(may_refuse && from == From::Inside), "{cell}");
}

#[test]
fn each_call_at_each_moment_is_answered() {
    let mut left_out = 0;
    for moment in &MOMENTS {
        for from in [From::Inside, From::Outside] {
            let is_left_out =
                |(name, thread, _): &(&str, From, &str)| (*name, *thread) == (moment.name, from);
            if LEFT_OUT.iter().any(is_left_out) {
                left_out += CALLS.len();
                continue;
            }
            for call in CALLS {
                attack(moment, from, call);
            }
        }
    }
    let cells = MOMENTS.len() * 2 * CALLS.len();
    assert!(left_out * 10 <= cells, "{left_out} of {cells}");
}

/// Only the threads inside: nobody else has a context.
#[test]
fn each_call_of_a_context_is_answered() {
    contexts::attack_all();
}
