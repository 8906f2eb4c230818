//! The picks that wait.

use super::arena::Arena;
use super::artifacts::Stage;
use super::board::{Board, NOBODY};
use super::grant::Key;
use super::lists::{Chain, List, Lists};

/// Picks, in the order of their arrival. Each is also in a list of its worker.
pub(super) struct Picks<P> {
    all: Arena<Pick<P>>,
    order: List,
    arrived: u64,
}

struct Pick<P> {
    worker: u32,
    /// The number of picks that had begun to wait before.
    arrival: u64,
    /// Its places in the two lists.
    places: Chain,
    content: P,
}

impl<P> Picks<P> {
    pub(super) fn new(lists: &mut Lists) -> Self {
        Self {
            all: Arena::new(),
            order: lists.add(NOBODY),
            arrived: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a pick of that worker, whose picks are in `own`.
    pub(super) fn add(&mut self, lists: &mut Lists, own: List, worker: u32, content: P) -> Key {
        let serial = self.arrived;
        let place = self.all.insert(Pick {
            worker,
            arrival: serial,
            places: Chain::EMPTY,
            content,
        });
        self.arrived += 1;
        let places = &mut self.all[place].places;
        lists.push(self.order, place, places);
        lists.push(own, place, places);
        Key { place, serial }
    }

    pub(super) fn find(&self, pick: Key) -> Option<u32> {
        let found = self.all.get(pick.place)?;
        (found.arrival == pick.serial).then_some(pick.place)
    }

    /// Removes a pick. Returns its worker and its content.
    pub(super) fn remove(&mut self, lists: &mut Lists, place: u32) -> (u32, P) {
        let mut pick = self.all.remove(place);
        lists.take_all(&mut pick.places);
        (pick.worker, pick.content)
    }

    /// Returns the pick that has waited for longest among those that may have the job.
    pub(super) fn earliest_for<I, J>(&self, board: &Board<I, J>, job: u32) -> Option<u32> {
        let (lists, found) = (&board.lists, &board.jobs[job]);
        match found.stage {
            Stage::Running(_) => None,
            Stage::Global => lists.first(self.order),
            Stage::Cached | Stage::Local => {
                let workers = lists.owners(&found.near).filter(|&owner| owner != NOBODY);
                let picks = workers.filter_map(|at| lists.first(board.workers[at].picks));
                picks.min_by_key(|&pick| self.all[pick].arrival)
            }
        }
    }
}
