//! State that the schedulers of an engine share: their links, the owners of data, the members.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use filch_event_queue::{Receiver, channel};
use filch_parker::{AdaptiveSpinner, Parker};
use filch_sync::{Condvar, Mutex, MutexGuard, lock};

use crate::counter::Stats;
use crate::data::Role;
use crate::error::{Exit, StartError};
use crate::links::{Links, Message, Order};
use crate::owners::Owners;
use crate::report::{Report, SchedulerReport, WorkerReport};
use crate::route::{MAX_SCHEDULERS, Route};
use crate::scheduler::handle::{AddError, Unfit};
use crate::worker::public::{Public, WorkerHandle};
use crate::worker::spec::{Spec, Worker};

/// The most workers of a scheduler that a report still shows when they have ended.
const SHOWN_ENDED: usize = 16;

/// State that the schedulers of an engine share.
pub(crate) struct Shared {
    pub(crate) links: Arc<Links>,
    pub(crate) owners: Arc<Owners>,
    /// Bounds the time that schedulers look for work before they block.
    pub(crate) spinner: AdaptiveSpinner,
    /// The schedulers and workers. Locked when these come and go, never for a task.
    members: Mutex<Members>,
    /// Notified when a scheduler is over.
    over: Condvar,
}

#[derive(Default)]
struct Members {
    is_terminated: bool,
    schedulers: Vec<Member>,
    threads: Vec<JoinHandle<()>>,
    /// The number of the next worker.
    next_worker: usize,
}

impl Shared {
    pub(crate) fn new(rounds_before_rest: u32) -> Self {
        let tight = rounds_before_rest.min(4);
        Self {
            spinner: AdaptiveSpinner::with_rounds(tight, rounds_before_rest - tight),
            links: Arc::new(Links::new()),
            owners: Arc::default(),
            members: Mutex::default(),
            over: Condvar::new(),
        }
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        lock(&self.members)
    }

    /// Adds a scheduler of that name, which others can reach from now on.
    ///
    /// # Errors
    /// [`StartError::Terminated`] or [`StartError::TooMany`].
    pub(crate) fn register(&self, name: String) -> Result<Place, StartError> {
        let mut members = self.members();
        if members.is_terminated {
            return Err(StartError::Terminated);
        }
        let number = members.schedulers.len();
        if number == MAX_SCHEDULERS {
            return Err(StartError::TooMany);
        }
        let (sender, queue) = channel();
        let parker = Parker::new();
        self.links.connect(number, sender, parker.unparker());
        let stats = Arc::new(Stats::default());
        members.schedulers.push(Member {
            name,
            stats: Arc::clone(&stats),
            ..Member::default()
        });
        Ok(Place {
            number,
            queue,
            parker,
            stats,
        })
    }

    /// Adds a worker whose lists fit each other.
    ///
    /// # Errors
    /// The worker, if it does not fit the others.
    pub(crate) fn add(
        &self,
        scheduler: usize,
        mut worker: Worker,
    ) -> Result<WorkerHandle, AddError> {
        let tasks = worker.spec.tasks();
        let routes = tasks.map(|task| (task.route)(&self.links.routes));
        let routes: Vec<Route> = routes.collect();
        let mut members = self.members();
        let number = members.next_worker;
        let member = &mut members.schedulers[scheduler];
        if let Err(reason) = self.take_in(scheduler, member, &worker.spec) {
            return Err(AddError { worker, reason });
        }
        let is_exclusive = worker.spec.is_exclusive();
        let public = Public::new(&worker.spec, scheduler, number, routes);
        worker.spec.public = Some(Arc::clone(&public));
        // The worker comes before its first task: it is in the queue when its routes are known.
        let message = Message::Order(Box::new(Order::Add(worker.spec)));
        if self.links.send(scheduler, message).is_err() {
            unreachable!("a scheduler that is not terminated has its queue");
        }
        member.enter(scheduler, Arc::clone(&public), is_exclusive);
        members.next_worker += 1;
        let links = Arc::clone(&self.links);
        Ok(WorkerHandle { public, links })
    }

    /// Checks that there is room for it, and registers it as owner of its data unless others are.
    fn take_in(&self, scheduler: usize, member: &Member, spec: &Spec) -> Result<(), Unfit> {
        if member.is_terminated {
            return Err(Unfit::Terminated);
        }
        if member.is_exclusive || spec.is_exclusive() && !member.workers.is_empty() {
            return Err(Unfit::NotAlone);
        }
        let mut after = spec.after.iter();
        if let Some(other) = after.find(|other| member.leads(&spec.name, other)) {
            return Err(Unfit::Circle(other.clone()));
        }
        let owned = spec.data.iter().filter(|data| data.role == Role::Owner);
        let (ids, names): (Vec<_>, Vec<_>) = owned.map(|data| (data.id, data.name)).unzip();
        let announced = self.owners.announce(scheduler, &ids);
        announced.map_err(|taken| Unfit::Owned(names[taken]))
    }

    /// Removes a worker that has ended.
    pub(crate) fn left(&self, public: &Arc<Public>) {
        self.members().schedulers[public.scheduler].leave(public);
    }

    pub(crate) fn terminate(&self, scheduler: usize) {
        let mut members = self.members();
        let member = &mut members.schedulers[scheduler];
        if !std::mem::replace(&mut member.is_terminated, true) {
            for worker in &member.workers {
                // Those that were told before keep their reason.
                let _ = worker.told.set(Exit::Terminated);
            }
            // Behind all added workers. Only a scheduler whose loop has ended refuses it.
            let message = Message::Order(Box::new(Order::Terminate));
            let _ = self.links.send(scheduler, message);
        }
    }

    /// Terminates all schedulers, and refuses new ones.
    pub(crate) fn terminate_all(&self) {
        let schedulers = {
            let mut members = self.members();
            members.is_terminated = true;
            members.schedulers.len()
        };
        (0..schedulers).for_each(|scheduler| self.terminate(scheduler));
    }

    /// Marks a scheduler as over: its loop has ended, or never began.
    pub(crate) fn is_over_now(&self, scheduler: usize) {
        let mut members = self.members();
        let member = &mut members.schedulers[scheduler];
        (member.is_terminated, member.is_over) = (true, true);
        self.over.notify_all();
    }

    pub(crate) fn is_over(&self, scheduler: usize) -> bool {
        self.members().schedulers[scheduler].is_over
    }

    pub(crate) fn name_of(&self, scheduler: usize) -> String {
        self.members().schedulers[scheduler].name.clone()
    }

    /// Keeps a scheduler's thread for the join.
    pub(crate) fn keep_thread(&self, scheduler: usize, thread: JoinHandle<()>) {
        let mut members = self.members();
        members.schedulers[scheduler].has_thread = true;
        members.threads.push(thread);
    }

    /// Blocks until the schedulers with threads are over, and joins those that nobody else joins.
    pub(crate) fn join(&self) {
        loop {
            let thread = self.members().threads.pop();
            let Some(thread) = thread else { break };
            // Workers' panics are contained, and there is no other code of the user's.
            drop(thread.join());
        }
        let mut members = self.members();
        let is_left = |member: &Member| member.has_thread && !member.is_over;
        while members.schedulers.iter().any(is_left) {
            let waited = self.over.wait(members);
            members = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn report(&self) -> Report {
        let members = self.members();
        let schedulers = members.schedulers.iter().enumerate();
        let schedulers = schedulers.map(|(number, member)| SchedulerReport {
            name: member.name.clone(),
            is_terminated: member.is_terminated,
            messages: self.links.messages(number),
            rounds: member.stats.rounds.get(),
            rests: member.stats.rests.get(),
            tasks: member.stats.tasks.get(),
            workers: reports(&member.workers),
            ended: member.stats.ended.get(),
            last_ended: reports(&member.gone),
        });
        Report {
            schedulers: schedulers.collect(),
        }
    }
}

/// The place of a scheduler, which others can reach already. It goes to the thread that will drive
/// the scheduler.
pub(crate) struct Place {
    pub(crate) number: usize,
    pub(crate) queue: Receiver<Message>,
    pub(crate) parker: Parker,
    pub(crate) stats: Arc<Stats>,
}

/// A scheduler, as its engine keeps it.
#[derive(Default)]
struct Member {
    name: String,
    /// Set when no worker may be added any more.
    is_terminated: bool,
    /// Set when its loop has ended.
    is_over: bool,
    /// Set if the engine has a thread for it.
    has_thread: bool,
    stats: Arc<Stats>,
    workers: Vec<Arc<Public>>,
    /// The last of those that have ended, oldest first.
    gone: Vec<Arc<Public>>,
    /// Set if its worker must be alone.
    is_exclusive: bool,
    /// The number of functions of its workers for each kind of task.
    listed: HashMap<usize, usize>,
}

impl Member {
    /// Returns whether workers named `other` run after those of that `name`, perhaps through
    /// others. Those that are here are in no circle.
    fn leads(&self, name: &str, other: &str) -> bool {
        let mut others = self.workers.iter().filter(|one| one.name == other);
        name == other || others.any(|one| one.after.iter().any(|next| self.leads(name, next)))
    }

    /// Adds a worker that is in the queue of its scheduler: tasks may follow it there.
    fn enter(&mut self, scheduler: usize, public: Arc<Public>, is_exclusive: bool) {
        for route in &public.lists {
            *self.listed.entry(route.kind.0).or_default() += 1;
            route.list(scheduler);
        }
        self.is_exclusive = is_exclusive;
        self.workers.push(public);
    }

    /// Removes a worker that has ended. No tasks follow it, unless another one lists their type.
    fn leave(&mut self, public: &Arc<Public>) {
        self.workers.retain(|other| !Arc::ptr_eq(other, public));
        if self.gone.len() == SHOWN_ENDED {
            self.gone.remove(0);
        }
        self.gone.push(Arc::clone(public));
        self.is_exclusive = false;
        for route in &public.lists {
            let left = self.listed.entry(route.kind.0).or_insert(1);
            *left -= 1;
            if *left == 0 {
                route.unlist(public.scheduler);
            }
        }
    }
}

fn reports(workers: &[Arc<Public>]) -> Vec<WorkerReport> {
    let workers = workers.iter();
    workers.map(|worker| WorkerReport::of(worker)).collect()
}
