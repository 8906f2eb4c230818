//! `cargo xtask docs`: writes into the pages what is made from the code.

mod aliases;
mod claims;
mod rows;
mod snippets;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::{litmus, sanitize};
use crate::support::Result;
use crate::support::process::{known_files, root, write};

/// The line with which a page says that a program made it.
pub(crate) const MADE: &str = "<!-- Made by `cargo xtask";

/// Writes every page anew that the code has left behind.
pub(crate) fn run() -> Result<ExitCode> {
    for (page, text) in stale()? {
        write(text.as_bytes(), &root().join(&page))?;
        println!("{}", page.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the pages that are not as the code has them, and how they should be.
pub(crate) fn stale() -> Result<Vec<(PathBuf, String)>> {
    let files = known_files()?;
    let read = |file: &PathBuf| fs::read_to_string(root().join(file));
    let [claimed, claims] = [claims::PAGE, claims::CLAIMS].map(|file| read(&file.into()));
    let (kernels, sanitized) = (litmus::weakenings()?, sanitize::packages("filch")?);
    let claimed = claims::fill(&claimed?, &claims?, &files, &kernels, &sanitized)?;
    let mut pages = vec![
        (PathBuf::from(claims::PAGE), claimed),
        (PathBuf::from(aliases::PAGE), aliases::page(&files)?),
        (PathBuf::from(rows::PAGE), rows::page(&files)?),
    ];
    let is_page = |file: &&PathBuf| file.extension().and_then(OsStr::to_str) == Some("md");
    for file in files.iter().filter(is_page) {
        let text = read(file)?;
        if text.contains(snippets::MARK) {
            let filled = snippets::fill(&text, |source| read(&source.into()))
                .map_err(|error| format!("{}: {error}", file.display()))?;
            pages.push((file.clone(), filled));
        }
    }
    pages.retain(|(page, text)| read(page).ok().as_ref() != Some(text));
    Ok(pages)
}
