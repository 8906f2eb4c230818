//! `docs/types.md`: the items that are called otherwise elsewhere, from their `doc(alias)`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::MADE;
use crate::support::Result;
use crate::support::process::root;

pub(super) const PAGE: &str = "docs/types.md";

/// The words before the name of an item.
const KEYWORDS: &str = "pub const async unsafe fn struct enum trait type";

/// Returns the page: a table for each crate.
pub(super) fn page(files: &[PathBuf]) -> Result<String> {
    let mut crates: BTreeMap<&str, String> = BTreeMap::new();
    for file in files.iter().filter(|file| file.starts_with("crates")) {
        let mut path = file.iter().filter_map(|part| part.to_str()).skip(1);
        if let (Some(name), Some("src")) = (path.next(), path.next()) {
            for (task, item, aliases) in items(&fs::read_to_string(root().join(file))?) {
                let table = crates.entry(name).or_default();
                let (file, aliases) = (file.display(), aliases.join("`, `"));
                writeln!(table, "| {task} | [`{item}`](../{file}) | `{aliases}` |")?;
            }
        }
    }
    let mut page = format!(
        "# Which type\n\n{MADE} docs` from the attributes `doc(alias)`. -->\n\n\
         Types and methods by their task, with the names that users of tokio, rayon, crossbeam,\n\
         Go and Erlang search for, here and in the API documentation. Equal names are left out.\n"
    );
    for (name, rows) in crates {
        write!(page, "\n## filch-{name}\n\n")?;
        page = page + "| task | here | elsewhere |\n|---|---|---|\n" + &rows;
    }
    Ok(page)
}

/// Returns each item that has aliases: the first clause of its documentation, its name, and them.
fn items(text: &str) -> Vec<(String, String, Vec<&str>)> {
    let (mut found, mut owner) = (Vec::new(), String::new());
    let (mut document, mut aliases) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(comment) = code.strip_prefix("///") {
            document.push(comment.trim());
            continue;
        }
        if let Some(alias) = code.strip_prefix("#[doc(alias = \"") {
            aliases.extend(alias.strip_suffix("\")]"));
        }
        if code.starts_with("#[") {
            continue;
        }
        let (name, is_inside) = (name(code), line != code);
        if !aliases.is_empty() {
            let owner = if is_inside { &*owner } else { "" };
            let item = [owner, name].join("::").trim_start_matches(':').to_owned();
            found.push((clause(&document), item, std::mem::take(&mut aliases)));
        }
        if !is_inside && name.starts_with(char::is_uppercase) {
            name.clone_into(&mut owner);
        }
        document.clear();
    }
    found
}

/// Returns the name of the item that a line begins; of an `impl`, that of the type.
fn name(code: &str) -> &str {
    let mut rest = code;
    if let Some(header) = code.strip_prefix("impl") {
        let generic = header.strip_prefix('<').and_then(|of| of.split_once("> "));
        rest = generic.map_or(header, |(_, header)| header);
        rest = rest.split(" for ").last().unwrap_or_default();
    }
    let mut words = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = words.find(|word| !word.is_empty() && !KEYWORDS.split(' ').any(|of| of == *word));
    name.unwrap_or_default()
}

/// Returns the first clause of a paragraph, without its links.
fn clause(document: &[&str]) -> String {
    let lines = document.iter().take_while(|line| !line.is_empty());
    let paragraph = lines.copied().collect::<Vec<_>>().join(" ");
    let ends = [". ", ": ", "; "].map(|end| paragraph.find(end).unwrap_or(paragraph.len()));
    let clause = &paragraph[..ends.into_iter().min().unwrap_or_default()];
    let mut parts = clause.trim_end_matches('.').split("](");
    let first = parts.next().into_iter();
    let rest = parts.filter_map(|part| part.split_once(')'));
    let plain: String = first.chain(rest.map(|(_, rest)| rest)).collect();
    plain.replace(['[', ']'], "").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::items;

    #[test]
    fn an_item_has_its_owner_its_first_clause_and_its_aliases() {
        let text = "/// Ends, as [`f`](Self::f): well.\n#[doc(alias = \"x\")]\npub enum E {\n    \
                    /// The\n    /// first. Yes.\n    #[doc(alias = \"y\")]\n    One,\n}\n\n\
                    impl<T: Into<U>> From<T> for Other<T> {\n    /// Asks.\n    \
                    #[doc(alias = \"p\")]\n    #[doc(alias = \"q\")]\n    pub async fn f() {}\n}\n";
        let found = items(text).into_iter();
        let found = found.map(|(task, item, of)| format!("{task}, {item}, {}", of.join(" ")));
        let expected = [
            "Ends, as `f`, E, x",
            "The first, E::One, y",
            "Asks, Other::f, p q",
        ];
        assert!(found.eq(expected));
    }
}
