//! Aligned columns of text.

use std::fmt;

/// A table whose columns are as wide as their widest cell; a heading that begins with `>` is
/// aligned right.
pub(crate) struct Table<const COLUMNS: usize> {
    rows: Vec<[String; COLUMNS]>,
    right: [bool; COLUMNS],
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub(crate) fn new(headings: [&str; COLUMNS]) -> Self {
        Self {
            right: headings.map(|heading| heading.starts_with('>')),
            rows: vec![headings.map(|heading| heading.trim_start_matches('>').to_owned())],
        }
    }

    pub(crate) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells);
    }

    /// A line that interrupts the columns.
    pub(crate) fn group(&mut self, name: &str) {
        let mut cells = std::array::from_fn(|_| String::new());
        cells[0] = format!("\n{name}");
        self.rows.push(cells);
    }
}

impl<const COLUMNS: usize> fmt::Display for Table<COLUMNS> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]);
            cells
                .filter(|cell| !cell.starts_with('\n'))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), &right) in row.iter().zip(&widths).zip(&self.right) {
                if right {
                    line += &format!("{cell:>width$}  ");
                } else {
                    line += &format!("{cell:<width$}  ");
                }
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["name", ">count"]);
        table.group("a group's name may be longer");
        table.row(["deque".into(), "7".into()]);
        table.row(["q".into(), "1234567".into()]);
        let expected = "\
name     count\n\
\n\
a group's name may be longer\n\
deque        7\n\
q      1234567\n";
        assert_eq!(table.to_string(), expected);
    }
}
