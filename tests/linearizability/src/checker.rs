//! The search for an order that the specification allows.

use std::collections::HashSet;
use std::fmt;
use std::thread;

use crate::call::MAX_THREADS;
use crate::history::History;
use crate::recording::Clocks;
use crate::specification::Specification;

/// A history that no order of its operations explains.
#[derive(Debug)]
pub struct Counterexample {
    history: String,
    /// The operations in the longest order that the specification allows.
    order: Vec<String>,
    /// The state after that order.
    state: String,
    /// The operations that would have to come next, and cannot.
    stuck: Vec<String>,
}

/// Checks that each operation of `history` can be given a moment between its call and its return,
/// so that `initial` allows them in that order.
///
/// # Errors
///
/// The recorded history and the longest order that was found, if there is no complete one.
pub fn check<S: Specification>(
    initial: &S,
    history: &History<S::Operation>,
) -> Result<(), Box<Counterexample>> {
    let mut search = Search {
        history,
        tried: HashSet::new(),
        order: Vec::new(),
        best: None,
    };
    if search.completes([Place::default(); MAX_THREADS], initial) {
        return Ok(());
    }
    let (order, frontier, state) = search.best.take().expect("the empty order is allowed");
    let next = search.next(&frontier);
    Err(Box::new(Counterexample {
        history: history.to_string(),
        order: order.iter().map(ToString::to_string).collect(),
        state: format!("{state:?}"),
        stuck: next
            .filter_map(|(thread, step)| Some(format!("{} of thread {thread}", step?)))
            .collect(),
    }))
}

/// The place of a thread's next operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Place {
    /// The number of finished calls.
    calls: u32,
    /// The number of finished steps of the next call.
    steps: u32,
}

/// The place that each thread has reached. A thread's operations are in order, so this says which
/// operations have been ordered.
type Frontier = [Place; MAX_THREADS];

struct Search<'h, S: Specification> {
    history: &'h History<S::Operation>,
    /// The situations that were entered: what can follow does not depend on how they came about.
    tried: HashSet<(Frontier, S)>,
    order: Vec<&'h S::Operation>,
    /// The longest order so far, and the place and state after it.
    best: Option<(Vec<&'h S::Operation>, Frontier, S)>,
}

impl<'h, S: Specification> Search<'h, S> {
    /// Returns true if the rest of the operations can follow, in some order.
    fn completes(&mut self, frontier: Frontier, state: &S) -> bool {
        if !self.tried.insert((frontier, state.clone())) {
            return false;
        }
        let best = self.best.as_ref().map(|(order, ..)| order.len());
        if best.is_none_or(|best| self.order.len() > best) {
            self.best = Some((self.order.clone(), frontier, state.clone()));
        }
        let mut is_done = true;
        for (thread, step) in self.next(&frontier) {
            is_done = false;
            let mut after = state.clone();
            if step.is_some_and(|step| !after.apply(step)) {
                continue;
            }
            self.order.extend(step);
            let frontier = self.past(frontier, thread);
            if self.completes(frontier, &after) {
                return true;
            }
            if step.is_some() {
                self.order.pop();
            }
        }
        is_done
    }

    /// Returns the threads that may go on, with the next operation of each. An operation that takes
    /// effect next must have been called before any other one returned, so all calls that it has
    /// seen return are finished.
    fn next(
        &self,
        frontier: &Frontier,
    ) -> impl Iterator<Item = (usize, Option<&'h S::Operation>)> + use<'h, S> {
        let (history, frontier) = (self.history, *frontier);
        let open = history.threads.iter().enumerate();
        open.filter_map(move |(thread, calls)| {
            let place = frontier[thread];
            let call = calls.get(place.calls as usize)?;
            let mut others = call.seen.iter().zip(&frontier);
            let may_begin = others.all(|(&seen, place)| place.calls >= seen);
            may_begin.then(|| (thread, call.steps.get(place.steps as usize)))
        })
    }

    /// Returns `frontier` with one more step of `thread`.
    fn past(&self, mut frontier: Frontier, thread: usize) -> Frontier {
        let place = &mut frontier[thread];
        let call = &self.history.threads[thread][place.calls as usize];
        place.steps += 1;
        if place.steps as usize >= call.steps.len() {
            *place = Place {
                calls: place.calls + 1,
                steps: 0,
            };
        }
        frontier
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "not linearizable:\n\n{}", self.history)?;
        writeln!(f, "the longest order: {}", self.order.join("; "))?;
        writeln!(f, "leads to: {}", self.state)?;
        write!(
            f,
            "where none of these can follow: {}",
            self.stuck.join("; ")
        )
    }
}

impl std::error::Error for Counterexample {}

/// The histories that were checked, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// The number of histories.
    pub histories: usize,
    /// The number of their calls.
    pub calls: usize,
    /// The number of pairs of calls that overlapped.
    pub overlaps: usize,
}

impl Rounds {
    /// Records `rounds` histories by each of the [`Clocks`], checks each, and prints the numbers.
    /// If no two calls overlapped, because the machine could not run several threads at once, it
    /// goes on until some have.
    ///
    /// # Panics
    ///
    /// At the first history that is not linearizable. Also if no calls overlap in a hundred times
    /// as many histories, with more than one processor: the test then shows no more than one on a
    /// single thread.
    pub fn check<S: Specification>(
        rounds: usize,
        initial: &S,
        mut record: impl FnMut(Clocks) -> History<S::Operation>,
    ) {
        let has_company = thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        for clocks in Clocks::BOTH {
            let mut sum = Self::default();
            while sum.histories < rounds || (has_company && sum.overlaps == 0) {
                assert!(
                    sum.histories < 100 * rounds,
                    "no two calls overlapped: {sum:?}"
                );
                let history = record(clocks);
                if let Err(counterexample) = check(initial, &history) {
                    panic!("history {} is {counterexample}", sum.histories);
                }
                sum.histories += 1;
                sum.calls += history.len();
                sum.overlaps += history.overlaps();
            }
            println!("{clocks:?}: {sum:?}");
        }
    }
}
