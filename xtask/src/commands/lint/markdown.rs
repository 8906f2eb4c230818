//! Markdown: relative links lead somewhere, and every page of docs/ is a chapter.

use std::fs;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::support::error::Result;
use crate::support::process::{PACKAGES, files_below, root};

/// The book's table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// All Markdown files of the repository, relative to its root, sorted.
pub(super) fn files() -> Result<Vec<PathBuf>> {
    let mut files = files_below(root(), PACKAGES, "md")?;
    files.extend(files_below(root(), &["docs"], "md")?);
    for entry in fs::read_dir(root())? {
        let name = PathBuf::from(entry?.file_name());
        if name.extension().is_some_and(|extension| extension == "md") {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn check(file: &Path) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root().join(file))?;
    let directory = file.parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    let mut report = |line, message| {
        findings.push(Finding {
            file: file.to_owned(),
            line,
            message,
        });
    };
    for (index, line) in text.lines().enumerate() {
        for link in relative_links(line) {
            if !root().join(directory).join(link).exists() {
                report(index + 1, format!("`{link}` does not exist"));
            }
        }
    }
    if let Ok(page) = file.strip_prefix("docs")
        && file != Path::new(SUMMARY)
    {
        let summary = fs::read_to_string(root().join(SUMMARY))?;
        if !summary.contains(&format!("]({})", page.display())) {
            report(1, format!("not a chapter: add it to {SUMMARY}"));
        }
    }
    Ok(findings)
}

/// The targets of `[text](target)` that are files: no addresses, no items of rustdoc, and no
/// anchors.
fn relative_links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        let path = target.split('#').next().unwrap_or_default();
        let is_file = path.contains('.') && !path.contains("::") && !path.contains("//");
        is_file.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::relative_links;

    #[test]
    fn only_links_to_files_are_followed() {
        let line = "[a](one.md), [b](https://example.org/x.md), [c](../two.md#part), \
                    [d](crate::algorithm), [e](#f)";
        assert!(relative_links(line).eq(["one.md", "../two.md"]));
    }
}
