//! The links of a page lead somewhere: to a file that is there, and to a place in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::process::root;

/// Finds the lines of a page, counted from 1, with links that lead nowhere.
pub(super) fn check(file: &Path, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (path, anchor) in links(line) {
            let target = root().join(file).with_file_name(path);
            let page = || match path {
                "" => Ok(text.to_owned()),
                _ => fs::read_to_string(&target),
            };
            let has = |page: String| anchors(&page, target.parent()).contains(anchor);
            if !target.exists() {
                found.push((index + 1, format!("`{path}` does not exist")));
            } else if !anchor.is_empty() && !page().is_ok_and(has) {
                found.push((index + 1, format!("`{path}#{anchor}`: no such place")));
            }
        }
    }
    found
}

/// The targets of `[text](target#anchor)` that are files, or places in this one: no addresses, and
/// no items of rustdoc.
fn links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("](").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let is_file = path.contains('.') && !path.contains("::") && !path.contains("//");
        (is_file || path.is_empty()).then_some((path, anchor))
    })
}

/// The places in a page: its headings, as the book and the forges call them, and what has an `id`;
/// and those of pages that it includes, which are below `folder`.
fn anchors(text: &str, folder: Option<&Path>) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let is_kept = |letter: &char| letter.is_alphanumeric() || "-_ ".contains(*letter);
            let title: String = title.chars().filter(is_kept).collect();
            anchors.insert(title.replace(' ', "-"));
        }
        let ids = line.split(" id=\"").skip(1);
        anchors.extend(ids.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        let included = line.strip_prefix("{{#include ");
        if let Some((folder, path)) = folder.zip(included) {
            let path = path.trim_end_matches("}}");
            let text = fs::read_to_string(folder.join(path)).unwrap_or_default();
            anchors.append(&mut self::anchors(&text, None));
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check, links};

    #[test]
    fn only_links_to_files_are_followed() {
        let line = "[a](one.md), [b](https://example.org/x.md), [c](../two.md#part), \
                    [d](crate::algorithm), [e](#f)";
        assert!(links(line).eq([("one.md", ""), ("../two.md", "part"), ("", "f")]));
    }

    #[test]
    fn places_are_headings_and_what_has_an_id() {
        let text = "# Not `one` word, but *two*\n\n[a](#not-one-word-but-two), [b](#c-d), [e](#e)\n\
                    <a id=\"c-d\"></a>[f](README.md#the-layers), [g](README.md#none), [h](none.md)";
        let found = check(Path::new("a.md"), text);
        let expected = [
            (3, "`#e`: no such place".to_owned()),
            (4, "`README.md#none`: no such place".to_owned()),
            (4, "`none.md` does not exist".to_owned()),
        ];
        assert_eq!(found, expected);
    }
}
