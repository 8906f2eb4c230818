//! Aligned columns of text.

use std::fmt;

/// A table whose columns are as wide as their widest cell; a heading that begins with `>` is
/// aligned right.
pub(crate) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        let names = headings.iter();
        let right = names.clone().map(|name| name.starts_with('>')).collect();
        let first = names.map(|name| name.replace('>', "")).collect();
        Self {
            right,
            rows: vec![first],
        }
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.right.len()).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), &right) in row.iter().zip(&widths).zip(&self.right) {
                line += &if right {
                    format!("{cell:>width$}  ")
                } else {
                    format!("{cell:<width$}  ")
                };
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
        let mut table = Table::new(&["name", ">count"]);
        table.row(["deque".into(), "7".into()]);
        table.row(["q".into(), "1234567".into()]);
        let expected = "\
name     count\n\
deque        7\n\
q      1234567\n";
        assert_eq!(table.to_string(), expected);
    }
}
