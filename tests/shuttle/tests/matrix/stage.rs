//! The stage of one cell: it brings the receiver to its moment, lets it go on, and ends all.

use std::sync::OnceLock;
use std::time::Instant;

use filch_actors::prelude::*;
use filch_actors::timers::{FakeClock, Timers};
use filch_actors::{Caller, MailboxFull};
use filch_parker::poll_until;
use filch_scheduler::{BoundThread, Completion, JoinError, Node, ProcessError, Scheduler};
use filch_supervisor::{Child, Shutdown, Strategy, Supervisor, SupervisorHandle};

use super::account::{Account, Mail, Order};
use super::axes::{Moment, Way};
use super::receiver::{FLUSH, Gate, NAME, Receiver, Right, Script, function};
use super::sync::{Arc, Mutex, mpsc};
use super::thread::{self, JoinHandle};
use super::ways::{Office, Pending, agent, agent_function};
use super::{Cell, FOR_EVER};

pub(crate) struct Stage {
    pub(crate) office: Office,
    /// `None` once it is shutting down.
    scheduler: Option<Scheduler<Mail>>,
    elsewhere: Option<Scheduler<Mail>>,
    /// The command for which the receiver waits.
    held: Arc<Mutex<Option<Completion<Mail>>>>,
    /// Tells an async function to go on.
    go_on: Option<Caller<()>>,
    bound: Option<Arc<BoundThread<Mail>>>,
    supervisor: Option<SupervisorHandle<Mail>>,
    /// The thread that submits the receiver.
    birth: Option<JoinHandle<Option<Join>>>,
    join: Option<Join>,
    shutdown: Option<JoinHandle<()>>,
}

/// Waits for the receiver's end. Returns true if that was one message too many.
type Join = Box<dyn FnOnce() -> bool + Send>;

fn is_overflow<H>(error: JoinError<Mail, H>) -> bool {
    match error {
        JoinError::Process(ProcessError::FunctionFailed(error)) => error.is::<MailboxFull>(),
        _ => false,
    }
}

/// A clock that stands still: no step is timed, so a schedule can be repeated.
fn now() -> Instant {
    static NOW: OnceLock<Instant> = OnceLock::new();
    *NOW.get_or_init(Instant::now)
}

impl Stage {
    pub(crate) fn new(cell: Cell) -> Self {
        let (give, rights) = mpsc::channel();
        let script = Arc::new(Script {
            cell,
            account: Arc::new(Account::default()),
            gate: Gate::default(),
            begun: Gate::default(),
            flushed: Gate::default(),
            pids: Mutex::default(),
            desk: Mutex::default(),
            rights: Mutex::new(give),
        });
        let clock = FakeClock::new();
        let timers = Timers::with_clock(clock.clone()).unwrap();
        let held = Arc::new(Mutex::new(None));
        let scheduler = Scheduler::builder().workers(2).clock(now).handler({
            let (script, held) = (Arc::clone(&script), Arc::clone(&held));
            move |order, completion| match order {
                Order::Letter => script.owe(Right::Command(completion)),
                Order::Hold => {
                    *held.lock().unwrap() = Some(completion);
                    script.gate.reach();
                }
            }
        });
        let scheduler = scheduler.build().unwrap();
        let own = Arc::clone(&script);
        let agent = match cell.way {
            Way::FunctionSend => {
                let agent = scheduler.spawn_with(|inbox| agent_function(inbox, own));
                Some(agent.unwrap().pid())
            }
            way if way.is_by_process() || way == Way::Answer => {
                let agent = scheduler.submit(agent(own, timers.clone()), "run", None);
                Some(agent.unwrap().pid())
            }
            _ => None,
        };
        if cell.way == Way::Answer {
            *script.desk.lock().unwrap() = agent;
        }
        let elsewhere = (cell.way == Way::Route).then(|| {
            let elsewhere = Scheduler::builder().workers(1).clock(now).node(Node(1));
            let (elsewhere, here) = (elsewhere.build().unwrap(), scheduler.handle());
            elsewhere.connect(here.node(), here).unwrap();
            elsewhere
        });
        Self {
            office: Office {
                script,
                handle: scheduler.handle(),
                elsewhere: elsewhere.as_deref().cloned(),
                timers,
                clock,
                agent,
                rights: Arc::new(Mutex::new(rights)),
            },
            scheduler: Some(scheduler),
            elsewhere,
            held,
            go_on: None,
            bound: None,
            supervisor: None,
            birth: None,
            join: None,
            shutdown: None,
        }
    }

    /// Brings the receiver to its moment.
    pub(crate) fn begin(&mut self) {
        let Office { handle, script, .. } = self.office.clone();
        match script.cell.moment {
            moment if moment.is_supervised() => self.supervise(),
            moment if moment.is_function() => self.spawn(),
            _ => self.submit(),
        }
        match script.cell.moment {
            Moment::Joined => drop(self.join()),
            Moment::Ended => {
                self.await_birth();
                poll_until(None, Box::pin(handle.ended(script.to())));
            }
            Moment::Upgrading | Moment::Upgraded => {
                script.begun.await_reached();
                let version = Receiver::new(&script, 1);
                handle.upgrade(script.to(), version, "run", None).unwrap();
                script.gate.await_reached();
            }
            Moment::ShuttingDown => {
                script.begun.await_reached();
                self.await_birth();
                self.shut_down();
                script.gate.await_reached();
            }
            Moment::ShutDown => {
                script.begun.await_reached();
                self.await_birth();
                self.cancel();
                self.shut_down();
                self.await_shutdown();
            }
            Moment::Terminated => {
                script.gate.await_reached();
                handle.terminate(script.to()).unwrap();
            }
            _ => script.gate.await_reached(),
        }
    }

    fn submit(&mut self) {
        let Office { handle, script, .. } = self.office.clone();
        if script.cell.moment == Moment::Bound {
            self.bound = Some(Arc::new(handle.reserve_thread().unwrap()));
        }
        let bound = self.bound.clone();
        self.birth = Some(thread::spawn(move || {
            let receiver = handle.submission(Receiver::new(&script, 0), "run", None);
            let mut receiver = script.prepare(receiver.name(NAME));
            if let Some(bound) = &bound {
                receiver = receiver.bound_to(bound);
            }
            let receiver = receiver.submit().ok()?;
            Some(Box::new(|| receiver.join().is_err_and(is_overflow)) as Join)
        }));
    }

    fn spawn(&mut self) {
        let Office { handle, script, .. } = &self.office;
        let (caller, answer) = Caller::new();
        self.go_on = Some(caller);
        let own = Arc::clone(script);
        let receiver = handle.submission_with(move |inbox| function(inbox, own, answer));
        let receiver = script.prepare(receiver.name(NAME)).spawn().unwrap();
        self.join = Some(Box::new(|| receiver.join().is_err_and(is_overflow)));
    }

    fn supervise(&mut self) {
        let Office { handle, timers, .. } = &self.office;
        let (script, mut lives) = (Arc::clone(&self.office.script), 0..);
        let child = Child::new(NAME, move |handle| {
            let receiver = Receiver::new(&script, lives.next().expect("there is no end"));
            script.prepare(handle.submission(receiver, "run", None))
        });
        let supervisor = Supervisor::new(Strategy::OneForOne)
            .intensity(usize::MAX, FOR_EVER)
            .child(child.shutdown(Shutdown::Unlimited));
        let supervisor = supervisor.start(handle, timers).unwrap();
        self.supervisor = Some(supervisor.wait().unwrap());
    }

    /// Lets the receiver go on from its moment.
    pub(crate) fn release(&mut self) {
        self.office.script.gate.open();
        if let Some(completion) = self.held.lock().unwrap().take() {
            completion.complete(None);
        }
        if let Some(caller) = self.go_on.take() {
            caller.answer(());
        }
    }

    /// Waits until the receiver, which lives, has read all that was sent before.
    pub(crate) fn flush(&mut self) {
        self.await_birth();
        let Office { handle, script, .. } = &self.office;
        let pid = script.pids.lock().unwrap().last().copied();
        handle.cancel(pid.expect("it lives"), FLUSH).unwrap();
        script.flushed.await_reached();
    }

    /// Ends the receiver, and waits for what its senders are told. Returns true if its end was one
    /// message too many.
    pub(crate) fn end(&mut self, pending: Vec<Pending>) -> bool {
        self.await_birth();
        if let Some(supervisor) = &self.supervisor {
            supervisor.stop().wait().unwrap();
        }
        self.cancel();
        let is_overflow = self.join();
        for told in pending {
            poll_until(None, told);
        }
        is_overflow
    }

    /// Ends all others.
    pub(crate) fn close(mut self) {
        if self.scheduler.is_some() {
            self.shut_down();
        }
        self.await_shutdown();
        if let Some(elsewhere) = self.elsewhere.take() {
            assert!(elsewhere.shutdown(FOR_EVER).unwrap().is_clean());
        }
    }

    fn cancel(&self) {
        let Office { handle, script, .. } = &self.office;
        let pids = script.pids.lock().unwrap().clone();
        for pid in self.office.agent.into_iter().chain(pids) {
            let _ = handle.cancel(pid, "that is all");
        }
    }

    fn await_birth(&mut self) {
        if let Some(birth) = self.birth.take() {
            self.join = birth.join().unwrap();
        }
    }

    fn join(&mut self) -> bool {
        self.await_birth();
        self.join.take().is_some_and(|join| join())
    }

    fn shut_down(&mut self) {
        let scheduler = self.scheduler.take().expect("it is shut down once");
        let shut_down = move || assert!(scheduler.shutdown(FOR_EVER).unwrap().is_clean());
        self.shutdown = Some(thread::spawn(shut_down));
    }

    fn await_shutdown(&mut self) {
        if let Some(shutdown) = self.shutdown.take() {
            shutdown.join().unwrap();
        }
    }
}

impl Drop for Stage {
    /// Lets nobody stand still in a test that fails.
    fn drop(&mut self) {
        self.release();
    }
}
