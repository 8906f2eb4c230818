//! Rewrites the links of an included file for the book.
//!
//! READMEs and essays are written for rustdoc, which resolves `[Worker::pop]` by the crate's names
//! and refuses unknown names; all files are written for a reader of the repository. The book
//! includes the same files. Here a link to an item becomes one to the crate's documentation, or to
//! the page of an essay, and a link to a file becomes one to its page, or to the repository.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag};

/// The book's folder in the repository.
const BOOK: &str = "docs";

/// The folders of crates, in the repository and in the book.
const CRATES: [&str; 2] = ["crates", "apps"];

/// The address of files that are not pages.
const REPOSITORY: &str = "https://github.com/filch-rs/filch/blob/main";

/// The paths of all pages, relative to the book's folder.
pub type Pages = BTreeSet<PathBuf>;

/// The page that includes a file of the repository's root.
const CONTRIBUTING: &str = "contributing.md";

/// Returns the text of `page`, with its links rewritten for the book.
pub fn rewrite(text: &str, page: &Path, pages: &Pages) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut end = 0;
    // An undefined reference is a link to an item: rustdoc would have refused it otherwise.
    let mut keep =
        |link: BrokenLink<'_>| Some((CowStr::from(link.reference.into_string()), "".into()));
    let parser =
        Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(&mut keep));
    for (event, range) in parser.into_offset_iter() {
        let Event::Start(Tag::Link {
            link_type,
            dest_url,
            ..
        }) = event
        else {
            continue;
        };
        if matches!(link_type, LinkType::Autolink | LinkType::Email) {
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
    let end = source
        .rfind("](")
        .or_else(|| source.rfind("]["))
        .or_else(|| source.rfind(']'))
        .unwrap_or(source.len());
    &source[1..end]
}

/// Returns the target of a link in the book; `None` if it may stay.
fn target(link: &str, page: &Path, pages: &Pages) -> Option<String> {
    if link.starts_with('#') || link.contains("//") {
        return None;
    }
    if !link.contains("::") && link.contains(['.', '/']) {
        return file(link, page, pages);
    }
    let (folder, package) = package(page)?;
    let item = link
        .trim_matches('`')
        .trim_end_matches("()")
        .trim_end_matches('!');
    let item = item.rsplit_once('@').map_or(item, |(_, item)| item);
    let item = item
        .trim_start_matches("crate::")
        .trim_start_matches("self::");
    // The item is a module that holds an essay, or one of the facade's crates.
    for essay in [
        Path::new(folder).join(&package).join(format!("{item}.md")),
        Path::new(folder)
            .join(item.replace('_', "-"))
            .join("README.md"),
    ] {
        if pages.contains(&essay) {
            return Some(relative(&essay, page));
        }
    }
    let (library, item) = match item.split_once("::") {
        Some((library, item)) if library == "filch" || library.starts_with("filch_") => {
            (library.to_owned(), item)
        }
        Some(("std" | "core" | "alloc", _)) => {
            return Some(format!(
                "https://doc.rust-lang.org/std/?go_to_first=true&search={item}"
            ));
        }
        _ if package == "filch" => ("filch".to_owned(), item),
        _ => (format!("filch_{}", package.replace('-', "_")), item),
    };
    let registered = library.replace('_', "-");
    Some(format!(
        "https://docs.rs/{registered}/latest/{library}/?go_to_first=true&search={item}"
    ))
}

/// Turns a link to a file into one to its page, or to the repository. `None` for a page that does
/// not exist: somebody should notice that.
fn file(link: &str, page: &Path, pages: &Pages) -> Option<String> {
    let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
    let mut file = PathBuf::new();
    for component in origin(page).join(path).components() {
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
            None => format!("{REPOSITORY}/{}{anchor}", file.display()),
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
    use super::{Pages, rewrite};
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
    fn an_item_is_looked_up_in_the_documentation_of_its_crate() {
        let page = "crates/event-queue/README.md";
        let docs =
            "https://docs.rs/filch-event-queue/latest/filch_event_queue/?go_to_first=true&search=";
        for link in [
            "[`Sender`]",
            "[`Sender`][Sender]",
            "[`Sender`](Sender)",
            "[`Sender`](crate::Sender)",
        ] {
            assert_eq!(
                in_the_book(page, link),
                format!("[`Sender`]({docs}Sender)"),
                "{link}"
            );
        }
        assert_eq!(
            in_the_book(page, "it was\n[reopened\nlater](Receiver::reopen), once"),
            format!("it was\n[reopened\nlater]({docs}Receiver::reopen), once")
        );
        assert_eq!(
            in_the_book(page, "[`Parker`](filch_parker::Parker)"),
            concat!(
                "[`Parker`](https://docs.rs/filch-parker/latest/filch_parker/",
                "?go_to_first=true&search=Parker)"
            )
        );
    }

    #[test]
    fn an_essay_is_a_page() {
        let page = "crates/event-queue/README.md";
        let essay = "../../crates/event-queue/algorithm.md";
        assert_eq!(
            in_the_book(page, "[the essay](algorithm)"),
            format!("[the essay]({essay})")
        );
        assert_eq!(
            in_the_book(page, "[a](ALGORITHM.md#order)"),
            format!("[a]({essay}#order)")
        );
        assert_eq!(
            in_the_book("crates/filch/README.md", "| [`event_queue`] |"),
            "| [`event_queue`](../../crates/event-queue/index.md) |"
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
            concat!(
                "[e](https://github.com/filch-rs/filch/blob/main/",
                "crates/event-queue/examples/round_trip.rs)"
            )
        );
    }

    #[test]
    fn what_lies_outside_the_book_is_its_page_or_in_the_repository() {
        let text = "[a](../CONTRIBUTING.md), [b](../SECURITY.md), [c](glossary.md#pin)";
        let security = "https://github.com/filch-rs/filch/blob/main/SECURITY.md";
        assert_eq!(
            in_the_book("architecture.md", text),
            format!("[a](contributing.md), [b]({security}), [c](glossary.md#pin)")
        );
        assert_eq!(
            in_the_book("contributing.md", "[g](docs/glossary.md)"),
            "[g](glossary.md)"
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
