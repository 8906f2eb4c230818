//! Folders of a crate's sources that import each other in a circle are one folder, or a wrong cut.
//!
//! Files inside one folder may import each other, and so may those beside the crate's root. One of
//! these and a folder may not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, UseTree};

use super::finding::Finding;
use crate::support::code::{is_for_tests, shipped};
use crate::support::error::Result;
use crate::support::process::{files_below, root};

/// The circles that are allowed: the package's folder, and the folders and files beside its root.
const RINGS: &[(&str, &[&str])] = &[
    // A process is stepped with a context, which has the handle, which has the table of processes.
    ("crates/scheduler", &["process", "table", "link", "handle"]),
    // A worker is made of functions, whose parameters and context are parts of a worker.
    (
        "crates/engine",
        &[
            "context", "function", "links", "message", "param", "received", "worker",
        ],
    ),
    // The machine runs members, and these have the scheduler that the machine is a part of.
    ("crates/engine", &["member", "scheduler", "shared"]),
    // The settings of a child are a part of the plan, and the plan is made from settings.
    ("crates/supervisor", &["plan", "settings"]),
];

/// Pairs of the crate's outermost modules, of which the first imports from the second.
type Imports = BTreeMap<(String, String), String>;

/// The circles of the crate in `package`, a folder, that are not allowed.
pub(super) fn check(package: &Path) -> Result<Vec<Finding>> {
    let sources = package.join("src");
    let files = files_below(root(), &[&sources.to_string_lossy()], "rs")?;
    let mut texts = Vec::new();
    for file in files.iter().filter(|file| !is_for_tests(file)) {
        let text = fs::read_to_string(root().join(file))?;
        texts.push((file.strip_prefix(&sources)?.to_owned(), text));
    }
    let imports = imports(&texts)?;
    let is_folder = |module: &str| root().join(&sources).join(module).is_dir();
    let rings = RINGS.iter().filter(|(of, _)| Path::new(of) == package);
    let rings: Vec<_> = rings.map(|(_, modules)| *modules).collect();
    let found = circles(&imports).into_iter().filter(|circle| {
        let is_allowed = |ring: &&[&str]| circle.iter().all(|module| ring.contains(module));
        circle.iter().any(|module| is_folder(module)) && !rings.iter().any(is_allowed)
    });
    let finding = |circle: BTreeSet<&str>| {
        let inside = imports.iter().filter(|((from, to), _)| {
            circle.contains(from.as_str()) && circle.contains(to.as_str())
        });
        let places: Vec<_> = inside
            .map(|((from, to), at)| format!("{from} → {to} in {at}"))
            .collect();
        Finding {
            file: sources.clone(),
            line: 1,
            message: format!(
                "folders import each other in a circle: {}",
                places.join(", ")
            ),
        }
    };
    Ok(found.map(finding).collect())
}

/// Lists what the modules of these files import from each other; the root's imports do not count.
fn imports(files: &[(std::path::PathBuf, String)]) -> Result<Imports> {
    let module = |file: &Path| {
        let first = file.components().next()?.as_os_str().to_string_lossy();
        Some(first.trim_end_matches(".rs").to_owned())
    };
    let is_root = |file: &Path| file == Path::new("lib.rs") || file == Path::new("main.rs");
    // What a name at the root means: a module, or something out of one.
    let mut names = BTreeMap::new();
    for (file, text) in files {
        if is_root(file) {
            for item in syn::parse_file(text)?.items {
                if let Item::Use(item) = item {
                    bind(&item.tree, None, &mut names);
                }
            }
        } else if let Some(module) = module(file) {
            names.insert(module.clone(), module);
        }
    }
    let mut imports = Imports::new();
    for (file, text) in files.iter().filter(|(file, _)| !is_root(file)) {
        let mut found = Vec::new();
        named(shipped(text)?, file.components().count(), &mut found);
        let own = module(file).unwrap_or_default();
        for (name, line) in found {
            if let Some(other) = names.get(&name).filter(|other| **other != own) {
                let place = || format!("{}:{line}", file.display());
                imports
                    .entry((own.clone(), other.clone()))
                    .or_insert_with(place);
            }
        }
    }
    Ok(imports)
}

/// Collects the names that a `use` at the root binds, with the modules that they come from.
fn bind(tree: &UseTree, module: Option<String>, names: &mut BTreeMap<String, String>) {
    let mut insert = |name: &syn::Ident| {
        names.extend(module.clone().map(|module| (name.to_string(), module)));
    };
    match tree {
        UseTree::Path(path) if path.ident == "crate" => bind(&path.tree, None, names),
        UseTree::Path(path) => {
            let module = module.unwrap_or_else(|| path.ident.to_string());
            bind(&path.tree, Some(module), names);
        }
        UseTree::Name(name) => insert(&name.ident),
        UseTree::Rename(name) => insert(&name.rename),
        UseTree::Group(group) => {
            let branches = group.items.iter();
            branches.for_each(|branch| bind(branch, module.clone(), names));
        }
        UseTree::Glob(_) => {}
    }
}

/// The names of the root that the code of a module uses, with their lines; so many `super` lead
/// there.
fn named(code: TokenStream, depth: usize, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<_> = code.into_iter().collect();
    let is = |at: usize, word: &str| {
        tokens
            .get(at)
            .is_some_and(|token| token.to_string() == word)
    };
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
    let edges = imports
        .keys()
        .map(|(from, to)| (from.as_str(), to.as_str()));
    let edges: BTreeSet<_> = edges.collect();
    let mut reach = edges.clone();
    loop {
        let ways = reach.iter().flat_map(|&(from, through)| {
            let next = edges
                .range((through, "")..)
                .take_while(move |(of, _)| *of == through);
            next.map(move |&(_, to)| (from, to))
        });
        let longer: BTreeSet<_> = ways.filter(|way| !reach.contains(way)).collect();
        if longer.is_empty() {
            break;
        }
        reach.extend(longer);
    }
    let back = |&&(from, to): &&(&str, &str)| from != to && reach.contains(&(to, from));
    let mut circles: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for &(from, to) in reach.iter().filter(back) {
        circles.entry(from).or_default().extend([from, to]);
    }
    circles.into_values().collect()
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
