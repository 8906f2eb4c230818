//! Tables that fit the terminal.

use console::{Alignment, Term, measure_text_width, pad_str};

/// The width of every table at least: a narrower terminal breaks lines.
const LEAST: usize = 80;

/// Returns the width of tables there: 80 columns, or those of the terminal if it has more.
pub(crate) fn width(of: &Term) -> usize {
    let known = of.size_checked();
    known.map_or(LEAST, |(_, columns)| LEAST.max(columns.into()))
}

/// A table, with each column as wide as necessary.
#[derive(Debug)]
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
}

/// The space between two columns.
const GAP: usize = 2;

impl Columns {
    /// Makes a table without rows. The first column has the rows' names.
    pub(crate) fn new<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Self {
        Self {
            rows: vec![heads.into_iter().map(Into::into).collect()],
        }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the lines of the table. Columns without room beside the others go below them, beside
    /// the first column again.
    pub(crate) fn within(&self, width: usize) -> String {
        let columns = self.rows[0].len();
        let widths: Vec<usize> = (0..columns).map(|column| self.width_of(column)).collect();
        let mut lines = String::new();
        let mut begin = 1;
        while begin < columns {
            let mut taken = widths[0];
            let fits = |&column: &usize| {
                taken += GAP + widths[column];
                taken <= width || column == begin
            };
            let end = begin + (begin..columns).take_while(fits).count();
            if begin > 1 {
                lines.push('\n');
            }
            for row in &self.rows {
                lines.push_str(&pad_str(&row[0], widths[0], Alignment::Left, None));
                for column in begin..end {
                    lines.push_str(&pad_str(
                        &row[column],
                        GAP + widths[column],
                        Alignment::Right,
                        None,
                    ));
                }
                lines.push('\n');
            }
            begin = end;
        }
        lines
    }

    fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| measure_text_width(&row[column]));
        cells.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Columns;

    fn table() -> Columns {
        let mut table = Columns::new(["name", "first", "b", "last one"]);
        table.row(["x", "1", "22", "3"].map(str::to_owned));
        table.row(["long", "123456", "2", "3"].map(str::to_owned));
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let lines = "\
name   first   b  last one
x          1  22         3
long  123456   2         3
";
        assert_eq!(table().within(26), lines);
        assert_eq!(table().within(80), lines);
    }

    #[test]
    fn columns_without_room_go_below() {
        let two = "\
name   first   b
x          1  22
long  123456   2

name  last one
x            3
long         3
";
        assert_eq!(table().within(25), two);
        // A column that is too wide by itself is shown all the same.
        assert_eq!(table().within(3).lines().count(), 3 * 4 - 1);
    }
}
