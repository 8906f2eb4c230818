//! The links of a built book.

use std::collections::{BTreeMap, BTreeSet};

/// The links of a page of HTML, and the anchors in it.
#[derive(Default)]
pub(super) struct Page {
    links: BTreeSet<String>,
    anchors: BTreeSet<String>,
}

impl Page {
    /// Reads the attributes of the tags. Their values are the only places in which a quotation mark
    /// stands for itself: in the text it is escaped.
    pub(super) fn parse(html: &str) -> Self {
        let mut page = Self::default();
        for tag in tags(html) {
            for name in ["href", "src"] {
                page.links.extend(attribute(tag, name).map(unescaped));
            }
            for name in ["id", "name"] {
                page.anchors.extend(attribute(tag, name).map(unescaped));
            }
        }
        page
    }
}

/// The inside of each opening tag; scripts and comments are left out.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('<')? + 1..];
            let end = if rest.starts_with("!--") {
                "-->"
            } else if rest.starts_with("script") {
                "</script"
            } else {
                ">"
            };
            let length = rest.find(end)?;
            let tag = &rest[..length];
            rest = &rest[length + end.len()..];
            match end {
                ">" => return Some(tag),
                // A script may be a file, which has to be there.
                "</script" => return tag.split('>').next(),
                _ => {}
            }
        }
    })
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split('"').next()
}

fn unescaped(value: &str) -> String {
    value.replace("&amp;", "&").replace("%20", " ")
}

/// Lists the broken links of each page, by its path in the book. `exists` tells of files that are
/// no pages.
pub(super) fn broken<'p>(
    pages: &'p [(String, Page)],
    exists: &dyn Fn(&str) -> bool,
) -> Vec<(&'p str, Vec<String>)> {
    let by_name: BTreeMap<_, _> = pages
        .iter()
        .map(|(name, page)| (name.as_str(), page))
        .collect();
    let check = |(name, page): &'p (String, Page)| {
        let mut messages = Vec::new();
        for link in page.links.iter().filter(|link| !is_address(link)) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                Some(name.clone())
            } else {
                resolve(name, path)
            };
            let page = target.as_deref().and_then(|target| by_name.get(target));
            match (target.as_deref(), page) {
                (None, _) => messages.push(format!("`{link}` leads out of the book")),
                (Some(target), None) if !exists(target) => {
                    messages.push(format!("`{link}` does not exist"));
                }
                (_, Some(page)) if !anchor.is_empty() && !page.anchors.contains(anchor) => {
                    messages.push(format!("`{link}`: that page has no such anchor"));
                }
                _ => {}
            }
        }
        (name.as_str(), messages)
    };
    pages.iter().map(check).collect()
}

/// True if a link begins with a scheme, or with a host.
fn is_address(link: &str) -> bool {
    let scheme = link.split_once(':').map(|(scheme, _)| scheme);
    link.starts_with("//")
        || scheme.is_some_and(|scheme| scheme.chars().all(|letter| letter.is_ascii_alphabetic()))
}

/// The path, from the book's root, of what `link` means on page `from`.
fn resolve(from: &str, link: &str) -> Option<String> {
    let path = link.split('?').next().unwrap_or_default();
    let mut parts: Vec<_> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    if path.ends_with('/') || parts.is_empty() {
        parts.push("index.html");
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{Page, broken};

    fn messages(pages: &[(&str, &str)]) -> Vec<String> {
        let parse = |(name, html): &(&str, &str)| ((*name).to_owned(), Page::parse(html));
        let pages: Vec<_> = pages.iter().map(parse).collect();
        let found = broken(&pages, &|file| file == "style.css");
        let with_names = found.into_iter().flat_map(|(name, messages)| {
            messages
                .into_iter()
                .map(move |message| format!("{name}: {message}"))
        });
        with_names.collect()
    }

    #[test]
    fn files_anchors_and_addresses_are_followed() {
        let a = r##"<link rel="x" href="style.css"><h1 id="top">A</h1><a href="#top">x</a>
            <a class="y" href="b/c.html#d&amp;e">x</a> <a href="https://example.org/none.html">x</a>
            <!-- <a href="gone.html"> --> <script>document.x = '<a href="gone.html">';</script>
            <code>&lt;a href=&quot;gone.html&quot;&gt;</code>"##;
        let c = r#"<p id="d&e"><a href="../a.html">x</a> <a href="../">x</a></p>"#;
        assert_eq!(
            messages(&[("a.html", a), ("b/c.html", c), ("index.html", "")]),
            [""; 0]
        );
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let a = r##"<a href="gone.html">x</a><img src="gone.png"><a href="b.html#gone">x</a>
            <a href="#gone">x</a><a href="../README.md">x</a><script src="gone.js"></script>"##;
        let found = messages(&[("a.html", a), ("b.html", "")]);
        let expected = [
            "a.html: `#gone`: that page has no such anchor",
            "a.html: `../README.md` leads out of the book",
            "a.html: `b.html#gone`: that page has no such anchor",
            "a.html: `gone.html` does not exist",
            "a.html: `gone.js` does not exist",
            "a.html: `gone.png` does not exist",
        ];
        assert_eq!(found, expected);
    }
}
