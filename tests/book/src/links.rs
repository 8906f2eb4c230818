//! Rewrites the links of an included file for the book.
//!
//! The pages of crates give the addresses of files in the repository, which work on docs.rs, too;
//! other pages give paths. Here both become links to the file's page, or to the repository.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// The book's folder in the repository.
const BOOK: &str = "docs";

/// The folders of crates, in the repository and in the book.
const CRATES: [&str; 2] = ["crates", "apps"];

/// The address of the repository's files, with which pages that rustdoc shows link others.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// The paths of all pages, relative to the book's folder.
pub type Pages = BTreeSet<PathBuf>;

/// The page that includes a file of the repository's root.
const CONTRIBUTING: &str = "contributing.md";

/// Returns the text of `page`, with its links rewritten for the book.
pub fn rewrite(text: &str, page: &Path, pages: &Pages) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut end = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link {
            link_type,
            dest_url,
            ..
        }) = event
        else {
            continue;
        };
        if link_type != LinkType::Inline {
            continue;
        }
        let Some(target) = target(&dest_url, page, pages) else {
            continue;
        };
        let source = &text[range.clone()];
        rewritten.push_str(&text[end..range.start]);
        rewritten.push_str(&format!("[{}]({target})", label(source)));
        end = range.end;
    }
    rewritten.push_str(&text[end..]);
    rewritten
}

/// Returns the folder and name of the crate whose file `page` includes: `crates/NAME/….md`.
fn package(page: &Path) -> Option<(&'static str, String)> {
    CRATES.into_iter().find_map(|folder| {
        let name = page.strip_prefix(folder).ok()?.parent()?.to_str()?;
        (!name.is_empty()).then(|| (folder, name.to_owned()))
    })
}

/// Returns the text between the first pair of brackets of a link's source.
fn label(source: &str) -> &str {
    &source[1..source.rfind("](").unwrap_or(source.len())]
}

/// Returns the target of a link in the book; `None` if it may stay.
fn target(link: &str, page: &Path, pages: &Pages) -> Option<String> {
    if let Some(path) = link.strip_prefix(REPOSITORY) {
        return file(Path::new(""), path, page, pages);
    }
    if link.starts_with('#') || link.contains("//") {
        return None;
    }
    file(&origin(page), link, page, pages)
}

/// Turns a link to a file into one to its page, or to the repository. `None` for a page that does
/// not exist: somebody should notice that.
fn file(origin: &Path, link: &str, page: &Path, pages: &Pages) -> Option<String> {
    let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
    let mut file = PathBuf::new();
    for component in origin.join(path).components() {
        match component {
            Component::ParentDir => {
                file.pop();
            }
            component => file.push(component),
        }
    }
    if let Ok(target) = file.strip_prefix(BOOK) {
        return (pages.contains(target)).then(|| relative(target, page) + anchor);
    }
    // It may be a crate's folder, its README, an essay, or another page named after its file.
    let name = file.file_name()?.to_string_lossy().to_lowercase();
    let candidates = [
        file.join("README.md"),
        file.clone(),
        file.with_file_name(name),
    ];
    Some(
        match candidates
            .iter()
            .find(|candidate| pages.contains(*candidate))
        {
            Some(target) => relative(target, page) + anchor,
            None => format!("{REPOSITORY}{}{anchor}", file.display()),
        },
    )
}

/// Returns the folder of the file that `page` shows: its own, or that of the included file.
fn origin(page: &Path) -> PathBuf {
    if page == Path::new(CONTRIBUTING) {
        return PathBuf::new();
    }
    match package(page) {
        Some((folder, package)) => Path::new(folder).join(package),
        None => Path::new(BOOK).join(page.parent().unwrap_or(Path::new(""))),
    }
}

/// Returns the path from `page` to `target`. A folder's `README.md` is its `index.html`.
fn relative(target: &Path, page: &Path) -> String {
    let up = page
        .parent()
        .map_or(0, |folder| folder.components().count());
    let target = match target.parent() {
        Some(folder) if target.ends_with("README.md") => folder.join("index.md"),
        _ => target.to_owned(),
    };
    "../".repeat(up) + &target.to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::{Pages, REPOSITORY, rewrite};
    use std::path::Path;

    fn in_the_book(page: &str, text: &str) -> String {
        let pages = [
            "contributing.md",
            "glossary.md",
            "crates/deque/README.md",
            "crates/event-queue/README.md",
            "crates/event-queue/algorithm.md",
        ];
        let pages: Pages = pages.into_iter().map(Into::into).collect();
        rewrite(text, Path::new(page), &pages)
    }

    #[test]
    fn an_essay_is_a_page() {
        let page = "crates/event-queue/README.md";
        let essay = "../../crates/event-queue/algorithm.md";
        assert_eq!(
            in_the_book(page, "[a](ALGORITHM.md#order)"),
            format!("[a]({essay}#order)")
        );
    }

    #[test]
    fn a_file_is_its_page_or_in_the_repository() {
        let page = "crates/event-queue/algorithm.md";
        assert_eq!(
            in_the_book(page, "[g](../../docs/glossary.md#pin)"),
            "[g](../../glossary.md#pin)"
        );
        assert_eq!(
            in_the_book(page, "[d](../deque)"),
            "[d](../../crates/deque/index.md)"
        );
        assert_eq!(
            in_the_book(page, "[e](examples/round_trip.rs)"),
            format!("[e]({REPOSITORY}crates/event-queue/examples/round_trip.rs)")
        );
    }

    #[test]
    fn what_lies_outside_the_book_is_its_page_or_in_the_repository() {
        let text = "[a](../CONTRIBUTING.md), [b](../SECURITY.md), [c](glossary.md#pin)";
        assert_eq!(
            in_the_book("architecture.md", text),
            format!("[a](contributing.md), [b]({REPOSITORY}SECURITY.md), [c](glossary.md#pin)")
        );
        assert_eq!(
            in_the_book("contributing.md", "[g](docs/glossary.md)"),
            "[g](glossary.md)"
        );
    }

    #[test]
    fn an_address_of_a_page_is_the_page() {
        let text = format!(
            "[a]({REPOSITORY}crates/event-queue/ALGORITHM.md#order), [b]({REPOSITORY}b.rs)"
        );
        let essay = "../../crates/event-queue/algorithm.md#order";
        assert_eq!(
            in_the_book("crates/deque/README.md", &text),
            format!("[a]({essay}), [b]({REPOSITORY}b.rs)")
        );
    }

    #[test]
    fn addresses_anchors_code_and_missing_pages_stay() {
        let text =
            "[a](https://docs.rs/x), [b](#c), `[d](E::f)`\n\n```rust\nlet a = [0][0];\n```\n";
        assert_eq!(in_the_book("crates/deque/README.md", text), text);
        let text = "[gone](decisions/gone.md), [`Worker`]";
        assert_eq!(in_the_book("architecture.md", text), text);
    }
}
