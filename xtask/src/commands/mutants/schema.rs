//! The copy of the tree in which all chosen mutants are compiled in, each dormant.
//!
//! A function that calls for its mutant is not `const`, so the copy's functions lose that word.
//! Those that a constant calls keep it, and their mutants are left out, as are those that do not
//! compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;

use super::edit::{Change, Edit, apply};
use super::function;
use super::refusals;
use super::subject::Subject;
use super::switch;
use crate::support::Result;
use crate::support::process::{Tree, known_files, root, sources, write};

/// The most times that the copy is built once more, because a mutant did not compile.
const ATTEMPTS: usize = 40;

/// The copy, for plain builds and for the models. Not in this tree's folders: cargo would take the
/// one tree's packages for the other's.
pub(super) fn trees() -> [Tree; 2] {
    let place = root().join("target/mutants");
    let tree = |target| Tree {
        root: place.join("tree"),
        target: place.join(target),
    };
    [tree("plain"), tree("loom")]
}

/// Writes the copy with the mutants of `subjects`, until `package` compiles.
pub(super) fn build(subjects: &mut [Subject<'_>], package: &str) -> Result<()> {
    let in_constants = names_in_constants()?;
    for subject in subjects.iter_mut() {
        let signature = &subject.function.signature;
        // Others may share their names with constant ones.
        if signature.constness.is_some() && in_constants.contains(&signature.ident.to_string()) {
            subject.left_out = (0..subject.mutants.len()).collect();
        }
    }
    let [tree, _] = trees();
    for _ in 0..ATTEMPTS {
        let mut instead = rewritten(subjects, &in_constants)?;
        let parent = instead.entry(switch::PARENT.into()).or_default();
        *parent += switch::DECLARATION;
        instead.insert(switch::PLACE.into(), switch::TEXT.to_owned());
        copy(&tree.root, &instead)?;
        let mut check = tree.cargo();
        check.args(["check", "--keep-going", "--message-format", "json"]);
        let output = check.args(["--package", package]).output()?;
        if output.status.success() {
            return Ok(());
        }
        if !refusals::leave_out(subjects, &String::from_utf8(output.stdout)?)? {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("the copy does not compile:\n{errors}").into());
        }
    }
    Err("the copy does not compile".into())
}

/// The files of the copy that differ.
fn rewritten(
    subjects: &[Subject<'_>],
    in_constants: &BTreeSet<String>,
) -> Result<BTreeMap<PathBuf, String>> {
    let mut instead = BTreeMap::new();
    for file in sources("crates")? {
        if file.iter().nth(2).is_none_or(|part| part != "src") {
            continue;
        }
        let text = fs::read_to_string(root().join(&file))?;
        let mut edits = Vec::new();
        for function in function::of(&file, &text)? {
            let signature = &function.signature;
            if let Some(word) = &signature.constness
                && !in_constants.contains(&signature.ident.to_string())
            {
                edits.push(Edit {
                    bytes: word.span().byte_range(),
                    change: Change::Replace(String::new()),
                });
            }
        }
        let own = |subject: &&Subject<'_>| subject.function.file == file;
        edits.extend(subjects.iter().filter(own).flat_map(Subject::edits));
        // The copy's style is nobody's concern.
        let is_root = file.ends_with("src/lib.rs");
        if is_root || !edits.is_empty() {
            let quiet = if is_root { "#![allow(warnings)] " } else { "" };
            instead.insert(file, format!("{quiet}{}", apply(&text, &mut edits)));
        }
    }
    Ok(instead)
}

/// Brings the copy in `tree` up to date; what has not changed keeps its time stamp. A file of
/// `instead` has that text there.
fn copy(tree: &Path, instead: &BTreeMap<PathBuf, String>) -> Result<()> {
    let listed = known_files()?;
    // What was copied last time and is gone by now must go: cargo finds test files by looking.
    let record = tree.with_file_name("files");
    let old = fs::read_to_string(&record).unwrap_or_default();
    for name in old.lines().filter(|name| !root().join(name).exists()) {
        let _ = fs::remove_file(tree.join(name));
    }
    for file in &listed {
        if !instead.contains_key(file) {
            write(&fs::read(root().join(file))?, &tree.join(file))?;
        }
    }
    for (name, text) in instead {
        write(text.as_bytes(), &tree.join(name))?;
    }
    let listed = listed.iter().map(|file| format!("{}\n", file.display()));
    Ok(fs::write(record, listed.collect::<String>())?)
}

/// The names of the functions that constants call, and of those that these call.
fn names_in_constants() -> Result<BTreeSet<String>> {
    let (mut names, mut within) = (BTreeSet::new(), Vec::new());
    for folder in ["crates", "loom-tests", "tests"] {
        for file in sources(folder)? {
            if let Ok(code) = fs::read_to_string(root().join(file))?.parse() {
                constants(code, &mut names, &mut within);
            }
        }
    }
    loop {
        let before = names.len();
        for (name, calls) in &within {
            if names.contains(name) {
                names.extend(calls.clone());
            }
        }
        if names.len() == before {
            return Ok(names);
        }
    }
}

/// Finds the names of the functions that are `called` where constants are computed, and those that
/// are called `within` each constant function.
fn constants(
    code: TokenStream,
    called: &mut BTreeSet<String>,
    within: &mut Vec<(String, BTreeSet<String>)>,
) {
    let tokens: Vec<_> = code.into_iter().collect();
    let is = |token: &TokenTree, word: &str| token.to_string() == word;
    let is_block = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => is(token, ";"),
    };
    for (at, token) in tokens.iter().enumerate() {
        let is_type = at > 0 && ["*", "'"].iter().any(|mark| is(&tokens[at - 1], mark));
        if (is(token, "const") || is(token, "static")) && !is_type {
            let rest = &tokens[at + 1..];
            let end = rest.iter().position(is_block);
            let item = &rest[..end.map_or(rest.len(), |end| end + 1)];
            if let Some(name) = item.iter().position(|token| is(token, "fn")) {
                within.push((item[name + 1].to_string(), calls(item)));
            } else if item.len() == 1 || item.iter().any(|token| is(token, "=")) {
                called.extend(calls(item));
            }
        }
        if let TokenTree::Group(group) = token {
            if group.delimiter() == Delimiter::Bracket {
                // The length of an array.
                let inside: Vec<_> = group.stream().into_iter().collect();
                let parts = inside.split(|token| is(token, ";"));
                called.extend(parts.skip(1).flat_map(calls));
            }
            constants(group.stream(), called, within);
        }
    }
}

/// The names before parentheses.
fn calls(code: &[TokenTree]) -> BTreeSet<String> {
    let text = code.iter().cloned().collect::<TokenStream>().to_string();
    let pieces = text.match_indices('(').map(|(at, _)| {
        let before = text[..at].trim_end();
        let name = before
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        name.unwrap_or_default().to_owned()
    });
    pieces.filter(|name| !name.is_empty()).collect()
}
