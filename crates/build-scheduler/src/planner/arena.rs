//! Values at numbered places, which are used again.

/// Values, each at a place whose number does not change while the value is there.
pub(super) struct Arena<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

struct Place<T> {
    /// How many values have left this place.
    generation: u32,
    value: Option<T>,
}

/// A place, and which of its values is meant: a key of an earlier one finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    place: u32,
    generation: u32,
}

impl<T> Arena<T> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize].value = Some(value);
            return place;
        }
        let place = u32::try_from(self.places.len()).expect("2^32 values do not fit into memory");
        self.places.push(Place {
            generation: 0,
            value: Some(value),
        });
        place
    }

    /// Takes the value out. There is one.
    pub(super) fn remove(&mut self, place: u32) -> T {
        let found = &mut self.places[place as usize];
        let value = found.value.take().expect(FREE);
        found.generation = found.generation.wrapping_add(1);
        self.free.push(place);
        value
    }

    pub(super) fn key(&self, place: u32) -> Key {
        let generation = self.places[place as usize].generation;
        Key { place, generation }
    }

    /// The place that `key` names, if its value is still there.
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let place = self.places.get(key.place as usize)?;
        let is_there = place.generation == key.generation && place.value.is_some();
        is_there.then_some(key.place)
    }
}

const FREE: &str = "no value at this place";

impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, place: u32) -> &T {
        self.places[place as usize].value.as_ref().expect(FREE)
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, place: u32) -> &mut T {
        self.places[place as usize].value.as_mut().expect(FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn a_place_is_used_again_and_its_old_key_finds_nothing() {
        let mut arena = Arena::new();
        let (first, second) = (arena.insert("first"), arena.insert("second"));
        let key = arena.key(first);
        assert_eq!((arena.find(key), arena.len()), (Some(first), 2));
        assert_eq!(arena.remove(first), "first");
        assert_eq!(arena.find(key), None);
        assert_eq!(arena.insert("third"), first);
        assert_eq!(arena.find(key), None);
        assert_eq!((arena[first], arena[second]), ("third", "second"));
    }
}
