//! Finds a mutant's row in the table when files and functions have moved in between.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::mutant::Name;

/// A part of a name that may have changed: what is left of the name without it, and the part.
type Split = fn(&Name) -> ((&str, &str), &str);

/// Parts that may have changed, the most likely first. The access and its orderings have to be the
/// same.
const CHANGES: &[Split] = &[
    // Nothing.
    |name| ((&name.file, &name.function), ""),
    // The folder, or the crate.
    |name| {
        let file = Path::new(&name.file);
        let folder = file.parent().and_then(Path::to_str).unwrap_or_default();
        let file = file.file_name().and_then(|file| file.to_str());
        ((file.unwrap_or_default(), &name.function), folder)
    },
    // The file: its function stands elsewhere.
    |name| (("", &name.function), &name.file),
    // The function was renamed.
    |name| ((&name.file, ""), &name.function),
];

/// The row of `rows` that is about each of `names`, each at most once.
///
/// Those of the same name belong together in their order. What is left over on both sides is then
/// brought together by the rest of its name, provided that there is one way to do so: as many rows
/// as mutants have that rest, all rows had one and the same other part, and so have all mutants.
pub(super) fn rows<'n>(rows: &[&'n Name], names: &[&'n Name]) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; names.len()];
    for (step, split) in CHANGES.iter().enumerate() {
        let rest = |name: &'n Name| (split(name).0, &name.change);
        let mut groups: BTreeMap<_, [Vec<usize>; 2]> = BTreeMap::new();
        for row in (0..rows.len()).filter(|row| !found.contains(&Some(*row))) {
            groups.entry(rest(rows[row])).or_default()[0].push(row);
        }
        for index in (0..names.len()).filter(|index| found[*index].is_none()) {
            groups.entry(rest(names[index])).or_default()[1].push(index);
        }
        for [old, new] in groups.into_values() {
            let parts: BTreeSet<_> = old.iter().map(|&row| split(rows[row]).1).collect();
            let new_parts: BTreeSet<_> = new.iter().map(|&name| split(names[name]).1).collect();
            let is_one_way = old.len() == new.len() && parts.len() == 1 && new_parts.len() == 1;
            if step == 0 || is_one_way {
                new.iter()
                    .zip(old)
                    .for_each(|(&index, row)| found[index] = Some(row));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Name, rows};

    /// `file function`, of one and the same access.
    fn names(places: &[&str]) -> Vec<Name> {
        let name = |place: &&str| {
            let (file, function) = place.split_once(' ').unwrap();
            Name {
                file: file.to_owned(),
                function: function.to_owned(),
                change: "load Acquire → Relaxed".to_owned(),
            }
        };
        places.iter().map(name).collect()
    }

    fn found(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
        rows(&Vec::from_iter(&names(old)), &Vec::from_iter(&names(new)))
    }

    #[test]
    fn names_that_stayed_belong_together_in_their_order() {
        let old = ["a/x.rs f", "a/x.rs f", "a/y.rs f"];
        assert_eq!(found(&old, &old), [Some(0), Some(1), Some(2)]);
        assert_eq!(found(&old, &["a/y.rs f", "a/x.rs f"]), [Some(2), Some(0)]);
    }

    #[test]
    fn a_file_may_go_to_another_folder() {
        let old = ["a/x.rs f", "a/x.rs f", "b/y.rs f"];
        let new = ["c/y.rs f", "d/e/x.rs f", "d/e/x.rs f"];
        assert_eq!(found(&old, &new), [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn a_function_may_go_to_another_file_or_be_renamed() {
        assert_eq!(found(&["a/x.rs f"], &["a/y.rs f"]), [Some(0)]);
        assert_eq!(found(&["a/x.rs f"], &["a/x.rs g"]), [Some(0)]);
        assert_eq!(found(&["a/x.rs f"], &["a/y.rs g"]), [None]);
    }

    #[test]
    fn what_may_be_either_is_neither() {
        // Two functions of that name, in two files that are both gone.
        assert_eq!(
            found(&["a/x.rs f", "a/y.rs f"], &["a/z.rs f", "a/z.rs f"]),
            [None, None]
        );
        // One of two accesses is gone, and nothing says which.
        assert_eq!(found(&["a/x.rs f", "a/x.rs f"], &["b/x.rs f"]), [None]);
    }
}
