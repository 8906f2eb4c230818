//! The boids near a place: the plane in square cells, and the boids in each.

use std::ops::Range;

use super::vector::Vector;

/// The cell of each of many places. Near places are in neighbouring cells, so that nobody has to
/// look at all of them.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    cell: f32,
    columns: usize,
    rows: usize,
    /// The begin of each cell's members, and the end of the last one's.
    starts: Vec<u32>,
    /// The places' indices, cell by cell: row by row, ascending in each cell.
    members: Vec<u32>,
}

impl Grid {
    /// Makes it for places from zero to `size`. Places nearer than `cell` are neighbours.
    pub(super) fn new(size: Vector, cell: f32) -> Self {
        let columns = (size.x / cell) as usize + 1;
        let rows = (size.y / cell) as usize + 1;
        Self {
            cell,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            members: Vec::new(),
        }
    }

    /// Sorts the places into the cells: by counting, in the order of their indices.
    pub(super) fn fill(&mut self, places: &[Vector]) {
        self.starts.fill(0);
        for &place in places {
            let cell = self.cell_of(place);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.members.resize(places.len(), 0);
        // Backwards: each cell is filled from its end, and ends where it should begin.
        for (index, &place) in places.iter().enumerate().rev() {
            let cell = self.cell_of(place);
            let end = &mut self.starts[cell + 1];
            *end -= 1;
            self.members[*end as usize] = index as u32;
        }
        // So each begin lies one cell too far.
        self.starts.rotate_left(1);
        if let Some(last) = self.starts.last_mut() {
            *last = places.len() as u32;
        }
    }

    /// Returns the indices of the places in the cell of `place` and the eight around it.
    pub(super) fn around(&self, place: Vector) -> impl Iterator<Item = usize> {
        let (column, row) = self.position(place);
        let columns = neighbours(column, self.columns);
        neighbours(row, self.rows).flat_map(move |row| {
            // The cells of a row lie side by side.
            let first = self.starts[row * self.columns + columns.start] as usize;
            let end = self.starts[row * self.columns + columns.end] as usize;
            self.members[first..end].iter().map(|&index| index as usize)
        })
    }

    fn cell_of(&self, place: Vector) -> usize {
        let (column, row) = self.position(place);
        row * self.columns + column
    }

    /// Returns the cell of a place; one outside counts as one at the border.
    fn position(&self, place: Vector) -> (usize, usize) {
        let column = (place.x / self.cell) as usize;
        let row = (place.y / self.cell) as usize;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }
}

/// Returns the cell itself, and its neighbours on both sides, as far as they exist.
fn neighbours(of: usize, length: usize) -> Range<usize> {
    of.saturating_sub(1)..length.min(of + 2)
}

#[cfg(test)]
mod tests {
    use super::{Grid, Vector};
    use proptest::prelude::*;

    const SIZE: Vector = Vector { x: 100.0, y: 60.0 };

    fn near(places: &[Vector], of: Vector) -> Vec<usize> {
        let is_near = |place: Vector| (place - of).length_squared() < 100.0;
        (0..places.len())
            .filter(|&index| is_near(places[index]))
            .collect()
    }

    proptest! {
        #[test]
        fn everybody_near_is_around_and_nobody_twice(
            places in prop::collection::vec((0.0_f32..=100.0, 0.0_f32..=60.0), 0..200)
        ) {
            let places: Vec<_> = places.into_iter().map(|(x, y)| Vector::new(x, y)).collect();
            let mut grid = Grid::new(SIZE, 10.0);
            // The earlier contents leave nothing behind.
            grid.fill(&[Vector::new(5.0, 5.0); 30]);
            grid.fill(&places);
            for &place in &places {
                let mut around: Vec<_> = grid.around(place).collect();
                let all = around.len();
                around.sort_unstable();
                around.dedup();
                prop_assert_eq!(around.len(), all, "nobody twice");
                around.retain(|&index| (places[index] - place).length_squared() < 100.0);
                prop_assert_eq!(around, near(&places, place));
            }
        }
    }

    #[test]
    fn a_cell_has_its_members_in_the_order_of_their_indices() {
        let mut grid = Grid::new(SIZE, 10.0);
        let place = Vector::new(55.0, 35.0);
        grid.fill(&[place; 9]);
        assert!(grid.around(place).eq(0..9));
    }
}
