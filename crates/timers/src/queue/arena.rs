//! Pending timers at numbered places.

use std::iter::repeat_with;
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

#[derive(Default)]
struct Chunk {
    /// Empty while all are free.
    places: Places,
    /// A bit for each place with a timer.
    taken: u64,
}

/// Either 64 places or none.
type Places = Box<[Pending]>;

impl Arena {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Takes a free place for a timer.
    pub(super) fn take_place(&mut self) -> u32 {
        let number = self.with_room.last().copied().unwrap_or_else(|| {
            let number = u32::try_from(self.chunks.len()).expect("2^38 timers fit nowhere");
            self.chunks.push(Chunk::default());
            self.with_room.push(number);
            number
        });
        let chunk = &mut self.chunks[number as usize];
        if chunk.taken == 0 {
            let new = || repeat_with(Pending::default).take(64).collect();
            chunk.places = self.spare.take().unwrap_or_else(new);
        }
        let bit = chunk.taken.trailing_ones();
        chunk.taken |= 1 << bit;
        if chunk.taken == u64::MAX {
            self.with_room.pop();
        }
        self.len += 1;
        number * 64 + bit
    }

    /// Returns the timer at that place, or one with the number 0.
    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Pending> {
        let chunk = self.chunks.get_mut(place as usize / 64)?;
        chunk.places.get_mut(place as usize % 64)
    }

    /// Removes a timer that has no action any more.
    pub(super) fn remove(&mut self, place: u32) {
        let chunk = &mut self.chunks[place as usize / 64];
        chunk.places[place as usize % 64].number = 0;
        if chunk.taken == u64::MAX {
            self.with_room.push(place / 64);
        }
        chunk.taken &= !(1 << (place % 64));
        if chunk.taken == 0 {
            self.spare = Some(std::mem::take(&mut chunk.places));
        }
        self.len -= 1;
    }

    /// Returns all places, the free ones too.
    pub(super) fn into_iter(self) -> impl Iterator<Item = Pending> {
        self.chunks.into_iter().flat_map(|chunk| chunk.places)
    }

    /// Returns all places, the free ones too.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.chunks.iter().flat_map(|chunk| &chunk.places)
    }
}

#[cfg(test)]
impl Arena {
    /// Returns the number of chunks in memory.
    pub(super) fn chunks(&self) -> usize {
        let places = self.chunks.iter().map(|chunk| &chunk.places);
        let places = places.chain(&self.spare);
        places.filter(|places| !places.is_empty()).count()
    }
}

impl Index<u32> for Arena {
    type Output = Pending;

    fn index(&self, place: u32) -> &Pending {
        &self.chunks[place as usize / 64].places[place as usize % 64]
    }
}

impl IndexMut<u32> for Arena {
    fn index_mut(&mut self, place: u32) -> &mut Pending {
        &mut self.chunks[place as usize / 64].places[place as usize % 64]
    }
}
