//! Finds a mutant's row in the table when files and functions have moved in between.

use std::collections::{BTreeMap, BTreeSet};

use super::mutant::Name;

/// The rest of a mutant's place when some of it may have changed, the most likely first. The
/// access and its orderings have to be the same.
const KEPT: &[fn(&Name) -> String] = &[
    // Nothing has changed.
    |name| format!("{} {}", name.file, name.function),
    // The folder, or the crate.
    |name| {
        let file = name.file.rsplit('/').next().unwrap_or_default();
        format!("{file} {}", name.function)
    },
    // The file: its function stands elsewhere.
    |name| name.function.clone(),
    // The function was renamed.
    |name| name.file.clone(),
];

/// The row of `rows` that is about each of `names`, each at most once.
///
/// Those of the same name belong together in their order. What is left over on both sides is then
/// brought together by the rest of its name, provided that there is one way to do so: as many rows
/// as mutants have that rest, all of these rows were in one place, and so are all of the mutants.
pub(super) fn rows(rows: &[&Name], names: &[&Name]) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; names.len()];
    for (step, kept) in KEPT.iter().enumerate() {
        let mut groups: BTreeMap<_, [Vec<usize>; 2]> = BTreeMap::new();
        let key = |name: &Name| (kept(name), name.change.clone());
        for row in (0..rows.len()).filter(|row| !found.contains(&Some(*row))) {
            groups.entry(key(rows[row])).or_default()[0].push(row);
        }
        for index in (0..names.len()).filter(|index| found[*index].is_none()) {
            groups.entry(key(names[index])).or_default()[1].push(index);
        }
        for [old, new] in groups.into_values() {
            let is_one = |of: &[usize], among: &[&Name]| {
                let places = of.iter().map(|&at| (&among[at].file, &among[at].function));
                places.collect::<BTreeSet<_>>().len() == 1
            };
            let is_one_way = old.len() == new.len() && is_one(&old, rows) && is_one(&new, names);
            if step == 0 || is_one_way {
                for (index, row) in new.into_iter().zip(old) {
                    found[index] = Some(row);
                }
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
        let old = ["a/x.rs f", "a/y.rs f"];
        assert_eq!(found(&old, &["a/z.rs f", "a/z.rs f"]), [None, None]);
        // One of two accesses is gone, and nothing says which.
        assert_eq!(found(&["a/x.rs f", "a/x.rs f"], &["b/x.rs f"]), [None]);
    }
}
