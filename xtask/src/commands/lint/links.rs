//! The links of a page lead to what is there; those of a crate's page on docs.rs, too.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::process::root;

/// The address of our files, by which those pages link them that are read elsewhere, too.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Finds the lines of a page, counted from 1, with links that lead nowhere.
pub(super) fn check(file: &Path, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (path, anchor) in links(line) {
            let ours = path.strip_prefix(REPOSITORY).map(|path| root().join(path));
            let is_beside = ours.is_none() && !path.is_empty();
            let target = ours.unwrap_or_else(|| root().join(file).with_file_name(path));
            // This page's, if the path is empty: that of a folder.
            let page = || fs::read_to_string(&target).unwrap_or_else(|_| text.to_owned());
            if !target.exists() || is_beside && file.starts_with("crates") {
                found.push((index + 1, format!("`{path}` does not exist everywhere")));
            } else if !(anchor.is_empty() || anchors(&page(), target.parent()).contains(anchor)) {
                found.push((index + 1, format!("`{path}#{anchor}`: no such place")));
            }
        }
    }
    found
}

/// The targets of `[text](target#anchor)` that are ours, and the names that rustdoc alone follows.
fn links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let names = line.split("[`").skip(1);
    let names = names.filter_map(|rest| rest.split_once("`]"));
    let names = names.filter_map(|(name, rest)| (!rest.starts_with('(')).then_some(name));
    let targets = line.split("](").skip(1);
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    let ours = targets.filter(|target| !target.contains("//") || target.starts_with(REPOSITORY));
    ours.chain(names)
        .map(|target| target.split_once('#').unwrap_or((target, "")))
}

/// The headings of a page and of those that it includes below `folder`, and what has an `id`.
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
        if let Some((folder, path)) = folder.zip(line.strip_prefix("{{#include ")) {
            let text = fs::read_to_string(folder.join(path.trim_end_matches("}}")));
            anchors.append(&mut self::anchors(&text.unwrap_or_default(), None));
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check, links};

    #[test]
    fn addresses_of_others_are_not_followed() {
        let line = "[a](one.md), [b](https://example.org/x.md), [c](../two.md#part), [`d`](D), \
                    [e](#f), [`g`]";
        let expected = [
            ("one.md", ""),
            ("../two.md", "part"),
            ("D", ""),
            ("", "f"),
            ("g", ""),
        ];
        assert!(links(line).eq(expected));
    }

    #[test]
    fn a_link_of_a_crates_page_works_everywhere() {
        let ours = super::REPOSITORY;
        let text = format!("[a]({ours}README.md), [b](#a)\n[c]({ours}c.md)\n[d](README.md)\n# a");
        let lines = |file| {
            let found = check(Path::new(file), &text).into_iter();
            found.map(|(line, _)| line).collect::<Vec<_>>()
        };
        assert_eq!(lines("crates/deque/ALGORITHM.md"), [2, 3]);
        assert_eq!(lines("a.md"), [2]);
    }

    #[test]
    fn places_are_headings_and_what_has_an_id() {
        let text = "# Not `one` word, but *two*\n\n[a](#not-one-word-but-two), [b](#c-d), [e](#e)\n\
                    <a id=\"c-d\"></a>[f](README.md#the-crates), [g](README.md#none), [h](none.md)";
        let found = check(Path::new("a.md"), text);
        let expected = [
            (3, "`#e`: no such place".to_owned()),
            (4, "`README.md#none`: no such place".to_owned()),
            (4, "`none.md` does not exist everywhere".to_owned()),
        ];
        assert_eq!(found, expected);
    }
}
