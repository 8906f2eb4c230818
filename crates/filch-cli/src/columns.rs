//! Tables, and texts that fit them.

use std::borrow::Cow;

/// Returns the lines of a table. Each column is as wide as its widest cell; the first one has the
/// names of the rows, and stands at the left.
pub(crate) fn table(
    heads: impl IntoIterator<Item = impl Into<String>>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut all = vec![heads.into_iter().map(Into::into).collect::<Vec<_>>()];
    all.extend(rows);
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..all[0].len()).filter_map(width).collect();
    let cell = |(column, cell): (usize, &String)| match (column, widths[column]) {
        (0, width) => format!("{cell:width$}"),
        (_, width) => format!("  {cell:>width$}"),
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<String>() + "\n";
    all.iter().map(line).collect()
}

/// Cuts a text that has more characters than that.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        None => text.into(),
        Some(_) => text
            .chars()
            .take(width - 1)
            .chain(['…'])
            .collect::<String>()
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, table};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let lines = "\
name   first   b  last one
x          1  22         3
long  123456   2         3
";
        let rows = [["x", "1", "22", "3"], ["long", "123456", "2", "3"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(["name", "first", "b", "last one"], rows), lines);
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(["äöü", "äöüß"].map(|text| cut(text, 3)), ["äöü", "äö…"]);
    }
}
