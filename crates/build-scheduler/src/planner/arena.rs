//! Values at numbered places, which are used again.

/// Values, each at a place whose number does not change while the value is there.
pub(super) struct Arena<T> {
    places: Vec<Place<T>>,
    /// The place to use next; the other free ones follow it.
    free: u32,
    len: usize,
}

enum Place<T> {
    Taken(T),
    Free { next: u32 },
}

/// No place.
const NONE: u32 = u32::MAX;

impl<T> Arena<T> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        self.len += 1;
        match self.places.get_mut(self.free as usize) {
            Some(free) => {
                let Place::Free { next } = std::mem::replace(free, Place::Taken(value)) else {
                    unreachable!("a free place has no value");
                };
                std::mem::replace(&mut self.free, next)
            }
            None => {
                self.places.push(Place::Taken(value));
                u32::try_from(self.places.len() - 1).expect("2^32 values do not fit into memory")
            }
        }
    }

    /// Takes out the value, which must be there.
    pub(super) fn remove(&mut self, place: u32) -> T {
        let free = Place::Free { next: self.free };
        let Place::Taken(value) = std::mem::replace(&mut self.places[place as usize], free) else {
            panic!("{FREE}");
        };
        self.free = place;
        self.len -= 1;
        value
    }

    /// Returns the value at that place, if there is one.
    pub(super) fn get(&self, place: u32) -> Option<&T> {
        match self.places.get(place as usize) {
            Some(Place::Taken(value)) => Some(value),
            _ => None,
        }
    }
}

const FREE: &str = "no value at this place";

impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, place: u32) -> &T {
        self.get(place).expect(FREE)
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, place: u32) -> &mut T {
        match &mut self.places[place as usize] {
            Place::Taken(value) => value,
            Place::Free { .. } => panic!("{FREE}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn a_place_is_used_again() {
        let mut arena = Arena::new();
        let places = ["first", "second", "third"].map(|value| arena.insert(value));
        assert_eq!(arena.remove(places[0]), "first");
        assert_eq!(arena.remove(places[2]), "third");
        assert_eq!((arena.get(places[0]), arena.len()), (None, 1));
        assert_eq!(arena.insert("fourth"), places[2]);
        assert_eq!(arena.insert("fifth"), places[0]);
        assert_eq!(arena.insert("sixth"), 3);
        let there = [places[0], places[1], places[2], 3].map(|place| arena[place]);
        assert_eq!(there, ["fifth", "second", "fourth", "sixth"]);
        assert_eq!(arena.len(), 4);
    }
}
