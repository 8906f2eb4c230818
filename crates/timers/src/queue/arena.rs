//! Pending timers at numbered places.

use std::ops::{Index, IndexMut};

use super::Pending;

/// Timers, each at a place whose number does not change while the timer is there.
///
/// They are kept in chunks: none moves when more come, which would take long under the lock, and
/// a chunk without a timer is freed, so that the memory of the most timers ever is not kept.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Chunk>,
    /// Chunks with a free place, each once.
    with_room: Vec<u32>,
    /// The places of the chunk that was emptied last, for the next one: a timer that is set and
    /// cancelled again and again does not allocate.
    spare: Option<Places>,
    len: usize,
}

struct Chunk {
    /// `None` while all are free.
    places: Option<Places>,
    /// A bit for each free place.
    free: u64,
}

type Places = Box<[Option<Pending>; 64]>;

const ALL_FREE: u64 = u64::MAX;

impl Arena {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, pending: Pending) -> u32 {
        let number = match self.with_room.last() {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.chunks.len()).expect("2^38 timers fit nowhere");
                self.chunks.push(Chunk {
                    places: None,
                    free: ALL_FREE,
                });
                self.with_room.push(number);
                number
            }
        };
        let chunk = &mut self.chunks[number as usize];
        let places = chunk.places.get_or_insert_with(|| {
            let spare = self.spare.take();
            spare.unwrap_or_else(|| Box::new([const { None }; 64]))
        });
        let bit = chunk.free.trailing_zeros();
        places[bit as usize] = Some(pending);
        chunk.free &= chunk.free - 1;
        if chunk.free == 0 {
            self.with_room.pop();
        }
        self.len += 1;
        number * 64 + bit
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Pending> {
        let places = self.chunks.get_mut(place as usize / 64)?.places.as_mut()?;
        places[place as usize % 64].as_mut()
    }

    /// Drops the timer at that place.
    pub(super) fn remove(&mut self, place: u32) {
        let chunk = &mut self.chunks[place as usize / 64];
        chunk.places.as_mut().expect(EMPTY)[place as usize % 64] = None;
        if chunk.free == 0 {
            self.with_room.push(place / 64);
        }
        chunk.free |= 1 << (place % 64);
        if chunk.free == ALL_FREE {
            self.spare = chunk.places.take();
        }
        self.len -= 1;
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = Pending> {
        let places = self.chunks.into_iter().filter_map(|chunk| chunk.places);
        places.flat_map(|places| places.into_iter().flatten())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending> {
        let places = self.chunks.iter().filter_map(|chunk| chunk.places.as_ref());
        places.flat_map(|places| places.iter().flatten())
    }
}

#[cfg(test)]
impl Arena {
    /// Returns the number of chunks in memory.
    pub(super) fn chunks(&self) -> usize {
        let places = self.chunks.iter().map(|chunk| &chunk.places);
        places.chain([&self.spare]).flatten().count()
    }
}

const EMPTY: &str = "no timer is at this place";

impl Index<u32> for Arena {
    type Output = Pending;

    fn index(&self, place: u32) -> &Pending {
        let places = self.chunks[place as usize / 64].places.as_ref();
        (places.expect(EMPTY)[place as usize % 64].as_ref()).expect(EMPTY)
    }
}

impl IndexMut<u32> for Arena {
    fn index_mut(&mut self, place: u32) -> &mut Pending {
        self.get_mut(place).expect(EMPTY)
    }
}
