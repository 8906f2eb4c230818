//! Doubly linked lists in one arena, whose items may be in several lists.

/// No node.
const NONE: u32 = u32::MAX;

/// Lists of items, which are numbers. An item may be in any number of lists. Leaving one of them,
/// or all, costs time in proportion to the number of its own places.
///
/// ```text
///   list "first, w0"    A ⇄ B ⇄ C
///   list "second, w1"       B ⇄ D       ⇄  along a list
///   list "second, w2"       B           ↕  the chain of item B, through its three places
/// ```
#[derive(Debug, Default)]
pub(super) struct Lists {
    nodes: Vec<Node>,
    /// The free node to use next; the other free ones follow it.
    free: Option<u32>,
    ends: Vec<Ends>,
    /// The free lists.
    free_lists: Vec<u32>,
}

/// A place of an item in a list.
#[derive(Debug, Clone, Copy)]
struct Node {
    list: u32,
    item: u32,
    previous: u32,
    next: u32,
    /// The item's places in other lists.
    previous_of_item: u32,
    next_of_item: u32,
}

#[derive(Debug, Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
    owner: u32,
}

/// Names a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List(u32);

/// Names a place of an item in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

/// The places of one item.
#[derive(Debug)]
pub(super) struct Chain(u32);

impl Chain {
    pub(super) const EMPTY: Self = Self(NONE);
}

impl Lists {
    /// Adds a list, with the number of its owner.
    pub(super) fn add(&mut self, owner: u32) -> List {
        let ends = Ends {
            first: NONE,
            last: NONE,
            owner,
        };
        if let Some(list) = self.free_lists.pop() {
            self.ends[list as usize] = ends;
            return List(list);
        }
        self.ends.push(ends);
        List(index(self.ends.len() - 1))
    }

    /// Removes an empty list.
    pub(super) fn remove(&mut self, list: List) {
        debug_assert!(self.is_empty(list), "places would name a list that is gone");
        self.free_lists.push(list.0);
    }

    pub(super) fn is_empty(&self, list: List) -> bool {
        self.ends[list.0 as usize].first == NONE
    }

    /// Returns the item that has been in the list for longest.
    pub(super) fn first(&self, list: List) -> Option<u32> {
        Some(self.item(self.first_place(list)?))
    }

    pub(super) fn first_place(&self, list: List) -> Option<Place> {
        place(self.ends[list.0 as usize].first)
    }

    pub(super) fn next_place(&self, place_before: Place) -> Option<Place> {
        place(self.nodes[place_before.0 as usize].next)
    }

    pub(super) fn item(&self, place: Place) -> u32 {
        self.nodes[place.0 as usize].item
    }

    /// Returns the owner of each list that the chain's item is in.
    pub(super) fn owners<'a>(&'a self, chain: &Chain) -> impl Iterator<Item = u32> + use<'a> {
        let mut next = place(chain.0);
        std::iter::from_fn(move || {
            let node = self.nodes[next?.0 as usize];
            next = place(node.next_of_item);
            Some(self.ends[node.list as usize].owner)
        })
    }

    /// Returns the place in `list` of the chain's item.
    pub(super) fn find(&self, list: List, chain: &Chain) -> Option<Place> {
        let mut next = place(chain.0);
        while let Some(found) = next {
            let node = self.nodes[found.0 as usize];
            if node.list == list.0 {
                return Some(found);
            }
            next = place(node.next_of_item);
        }
        None
    }

    /// Appends `item`, whose places `chain` has.
    pub(super) fn push(&mut self, list: List, item: u32, chain: &mut Chain) {
        let node = Node {
            list: list.0,
            item,
            previous: NONE,
            next: NONE,
            previous_of_item: NONE,
            next_of_item: chain.0,
        };
        let new = match self.free {
            Some(free) => {
                let next = std::mem::replace(&mut self.nodes[free as usize], node).next;
                self.free = (next != NONE).then_some(next);
                free
            }
            None => {
                self.nodes.push(node);
                index(self.nodes.len() - 1)
            }
        };
        self.append(list, new);
        if chain.0 != NONE {
            self.nodes[chain.0 as usize].previous_of_item = new;
        }
        chain.0 = new;
    }

    /// Appends `item`, which leaves its one other place, if it has one.
    pub(super) fn put(&mut self, list: List, item: u32, chain: &mut Chain) {
        if chain.0 == NONE {
            self.push(list, item, chain);
        } else {
            self.unlink(chain.0);
            self.append(list, chain.0);
        }
    }

    /// Appends a node that is in no list.
    fn append(&mut self, list: List, at: u32) {
        let ends = &mut self.ends[list.0 as usize];
        let last = std::mem::replace(&mut ends.last, at);
        match last {
            NONE => ends.first = at,
            last => self.nodes[last as usize].next = at,
        }
        let node = &mut self.nodes[at as usize];
        (node.list, node.previous, node.next) = (list.0, last, NONE);
    }

    /// Takes an item out of one list. `chain` has the item's places.
    pub(super) fn take(&mut self, place: Place, chain: &mut Chain) {
        let node = self.unlink(place.0);
        self.set_free(place.0);
        match node.previous_of_item {
            NONE => chain.0 = node.next_of_item,
            previous => self.nodes[previous as usize].next_of_item = node.next_of_item,
        }
        if node.next_of_item != NONE {
            self.nodes[node.next_of_item as usize].previous_of_item = node.previous_of_item;
        }
    }

    /// Takes an item out of all its lists.
    pub(super) fn take_all(&mut self, chain: &mut Chain) {
        while chain.0 != NONE {
            let next = self.unlink(chain.0).next_of_item;
            self.set_free(chain.0);
            chain.0 = next;
        }
    }

    /// Frees the node.
    fn set_free(&mut self, at: u32) {
        self.nodes[at as usize].next = self.free.unwrap_or(NONE);
        self.free = Some(at);
    }

    /// Takes a node out of its list, and returns it.
    fn unlink(&mut self, at: u32) -> Node {
        let node = self.nodes[at as usize];
        let ends = &mut self.ends[node.list as usize];
        match node.previous {
            NONE => ends.first = node.next,
            previous => self.nodes[previous as usize].next = node.next,
        }
        match node.next {
            NONE => ends.last = node.previous,
            next => self.nodes[next as usize].previous = node.previous,
        }
        node
    }
}

fn place(node: u32) -> Option<Place> {
    (node != NONE).then_some(Place(node))
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("2^32 places do not fit into memory")
}

#[cfg(test)]
mod tests {
    use super::{Chain, List, Lists};

    fn items(lists: &Lists, list: List) -> Vec<u32> {
        let first = lists.first_place(list);
        let places = std::iter::successors(first, |&place| lists.next_place(place));
        places.map(|place| lists.item(place)).collect()
    }

    #[test]
    fn an_item_leaves_one_list_or_all() {
        let mut lists = Lists::default();
        let [a, b, c] = [10, 11, 12].map(|owner| lists.add(owner));
        let mut chains = [(); 3].map(|()| Chain::EMPTY);
        for list in [a, b, c] {
            for (item, chain) in (0..).zip(&mut chains) {
                lists.push(list, item, chain);
            }
        }
        let owners: Vec<_> = lists.owners(&chains[1]).collect();
        assert_eq!(owners, [12, 11, 10]);
        let middle = lists.find(b, &chains[1]).unwrap();
        lists.take(middle, &mut chains[1]);
        assert!(lists.find(b, &chains[1]).is_none());
        assert_eq!(lists.owners(&chains[1]).collect::<Vec<_>>(), [12, 10]);
        assert_eq!(
            [a, b, c].map(|list| items(&lists, list)),
            [vec![0, 1, 2], vec![0, 2], vec![0, 1, 2]]
        );
        lists.take_all(&mut chains[0]);
        lists.take_all(&mut chains[1]);
        assert_eq!([a, b, c].map(|list| lists.first(list)), [Some(2); 3]);
        lists.push(b, 1, &mut chains[1]);
        assert_eq!(items(&lists, b), [2, 1]);
        assert_eq!(lists.nodes.len(), 9, "places are used again");
        lists.take_all(&mut chains[1]);
        lists.take_all(&mut chains[2]);
        assert!([a, b, c].iter().all(|&list| lists.is_empty(list)));
        lists.remove(b);
        assert_eq!(lists.add(13), b);
    }
}
