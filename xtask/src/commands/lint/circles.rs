//! Folders of a crate's sources that import each other in a circle are one folder, or a wrong cut.
//!
//! Files inside one folder may import each other, and so may those beside the crate's root. One of
//! these and a folder may not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Item;

use super::Finding;
use crate::support::Result;
use crate::support::code::{is_for_tests, shipped};
use crate::support::process::root;

/// The circles that are allowed: the package's folder, and the folders and files beside its root.
const RINGS: &[(&str, &[&str])] = &[
    // A process is stepped with a context, which has the handle, which has the table of processes.
    ("crates/scheduler", &["process", "table", "link", "handle"]),
    // A worker is made of functions, whose parameters and context are parts of a worker.
    ("crates/engine", &["context", "function", "links", "worker"]),
    // The machine runs members, and these have the scheduler that the machine is a part of.
    ("crates/engine", &["scheduler", "shared"]),
    // The settings of a child are a part of the plan, and the plan is made from settings.
    ("crates/supervisor", &["plan", "settings"]),
];

/// Pairs of the crate's outermost modules, of which the first imports from the second.
type Imports = BTreeMap<(String, String), String>;

/// The circles of the crate in the folder `package`, of these `files`, that are not allowed.
pub(super) fn check(package: &Path, files: &[PathBuf]) -> Result<Vec<Finding>> {
    let sources = package.join("src");
    let mut texts = Vec::new();
    let is_source = |file: &Path| file.extension().is_some_and(|of| of == "rs");
    let own = files.iter().filter(|file| file.starts_with(&sources));
    for file in own.filter(|file| is_source(file) && !is_for_tests(file)) {
        let text = fs::read_to_string(root().join(file))?;
        texts.push((file.strip_prefix(&sources)?.to_owned(), text));
    }
    let imports = imports(&texts)?;
    let is_wrong = |circle: &BTreeSet<&str>| {
        let mut rings = RINGS.iter().filter(|(of, _)| package.ends_with(of));
        let is_allowed = rings.any(|(_, ring)| circle.iter().all(|module| ring.contains(module)));
        let is_folder = |module: &&str| root().join(&sources).join(module).is_dir();
        circle.iter().any(is_folder) && !is_allowed
    };
    let finding = |circle: BTreeSet<&str>| {
        let is_inside =
            |(from, to): &(String, String)| circle.contains(&**from) && circle.contains(&**to);
        let inside = imports.iter().filter(|(ends, _)| is_inside(ends));
        let places = inside.map(|((from, to), at)| format!("{from} → {to} in {at}"));
        let places = places.collect::<Vec<_>>().join(", ");
        let message = format!("folders import each other in a circle: {places}");
        Finding::of(&sources, message)
    };
    let wrong = circles(&imports).into_iter().filter(is_wrong);
    Ok(wrong.map(finding).collect())
}

/// Lists what the modules of these files import from each other; the root's imports do not count.
fn imports(files: &[(PathBuf, String)]) -> Result<Imports> {
    let is_root = |file: &Path| file == Path::new("lib.rs") || file == Path::new("main.rs");
    let (roots, files): (Vec<_>, Vec<_>) = files.iter().partition(|(file, _)| is_root(file));
    let module = |file: &Path| {
        let first = file.iter().next().unwrap_or_default().to_string_lossy();
        first.trim_end_matches(".rs").to_owned()
    };
    // What a name at the root means: a module, or something out of one.
    let modules = files.iter().map(|(file, _)| (module(file), module(file)));
    let mut names: BTreeMap<_, _> = modules.collect();
    for (_, text) in roots {
        for item in syn::parse_file(text)?.items {
            if let Item::Use(item) = item {
                let path = item.tree.to_token_stream().to_string();
                let words = path.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let mut words = words.filter(|word| !["", "crate", "self"].contains(word));
                let module = words.next().unwrap_or_default();
                for word in words {
                    let name = names.entry(word.to_owned());
                    name.or_insert_with(|| module.to_owned());
                }
            }
        }
    }
    let mut imports = Imports::new();
    for (file, text) in files {
        let mut found = Vec::new();
        named(shipped(text)?, file.iter().count(), &mut found);
        let own = module(file);
        for (name, line) in found {
            if let Some(other) = names.get(&name).filter(|other| **other != own) {
                let import = imports.entry((own.clone(), other.clone()));
                import.or_insert_with(|| format!("{}:{line}", file.display()));
            }
        }
    }
    Ok(imports)
}

/// The names of the root that the code of a module uses, with their lines; so many `super` lead
/// there.
fn named(code: TokenStream, depth: usize, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<_> = code.into_iter().collect();
    let text = |at: usize| tokens.get(at).map(TokenTree::to_string);
    let is = |at, word: &str| text(at).is_some_and(|text| text == word);
    for at in 0..tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            named(group.stream(), depth, found);
        }
        // `super::super::name`, as words and single colons.
        let supers = (0..).take_while(|step| is(at + 3 * step, "super")).count();
        let steps = if is(at, "crate") { 1 } else { supers };
        if steps == 0 || steps == supers && supers < depth || !is(at + 1, ":") {
            continue;
        }
        let names = match tokens.get(at + 3 * steps) {
            Some(TokenTree::Group(group)) => group.stream().into_iter().collect(),
            name => Vec::from_iter(name.cloned()),
        };
        let branches = names.split(|token| token.to_string() == ",");
        for first in branches.filter_map(|branch| branch.first()) {
            found.push((first.to_string(), first.span().start().line));
        }
    }
}

/// The sets of modules in which each reaches each other.
fn circles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let circles = imports.keys().map(|(module, _)| {
        let mut circle = reach(imports, module);
        circle.retain(|other| reach(imports, other).contains(&**module));
        circle
    });
    circles.filter(|circle| circle.len() > 1).collect()
}

/// The modules that one imports from, and those that these do.
fn reach<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for (_, to) in imports.keys().filter(|(from, _)| from == module) {
            if reached.insert(&**to) {
                open.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::{circles, imports};

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = (files.iter())
            .map(|(file, text)| ((*file).into(), (*text).to_owned()))
            .collect();
        let imports = imports(&files).unwrap();
        let name = |circle: std::collections::BTreeSet<&str>| Vec::from_iter(circle).join(" ");
        circles(&imports).into_iter().map(name).collect()
    }

    #[test]
    fn folders_that_import_each_other_are_found_by_whatever_path() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; mod c; pub use crate::c::d::D as E;",
            ),
            ("a/a.rs", "use crate::{b::B, c::d::D};"),
            ("b.rs", "fn f() { g(super::E::new()) }"),
            ("c/d.rs", "struct D; impl super::super::a::A for D {}"),
        ];
        assert_eq!(found(&files), ["a b c"]);
    }

    #[test]
    fn tests_comments_and_what_is_inside_a_folder_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a/c.rs",
                "use super::d::D;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            (
                "a/d.rs",
                "use super::c::C; // use crate::b::B;\npub(crate) struct D;",
            ),
            ("b.rs", "use crate::a::c::C;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
