//! What the files of a crate import from each other.
//!
//! The module tree is read from the `mod` lines, and each path that begins within the crate is
//! followed to the file that defines its last part: a re-export is no file of its own, so that
//! `use crate::Worker` means `worker.rs`, whatever `lib.rs` says. A re-export itself imports
//! nothing, and tests are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::modules::{Module, Use};
use crate::support::error::Result;

/// A file needs something that another one defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Import {
    /// An index into [`Imports::files`].
    pub(super) from: usize,
    pub(super) to: usize,
    /// In `from`, counted from 1.
    pub(super) line: usize,
}

/// A crate's files and what they import from each other.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// Relative to the folder of sources; the crate's root is the first.
    pub(super) files: Vec<PathBuf>,
    /// One for each pair of files, the first that is found.
    pub(super) edges: Vec<Import>,
}

impl Imports {
    /// Of the crate whose root is `lib.rs`, or else `main.rs`, in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let root = ["lib.rs", "main.rs"].map(PathBuf::from);
        let root = root.into_iter().find(|root| folder.join(root).exists());
        let root = root.ok_or_else(|| format!("{} holds no crate", folder.display()))?;
        Self::of(root, &|file| fs::read_to_string(folder.join(file)).ok())
            .ok_or_else(|| format!("{}: the root cannot be read", folder.display()).into())
    }

    /// `read` gives a file's text, if there is such a file.
    fn of(root: PathBuf, read: &dyn Fn(&Path) -> Option<String>) -> Option<Self> {
        let mut tree = Tree::default();
        let text = read(&root)?;
        tree.add_file(None, root, &text, read);
        let mut seen = BTreeSet::new();
        let mut edges = Vec::new();
        for (index, module) in tree.modules.iter().enumerate() {
            let uses = module.uses.iter().filter(|import| !import.is_public);
            let imported = uses.map(|import| (&import.path, import.is_glob, import.line));
            let named = module.paths.iter().map(|(path, line)| (path, false, *line));
            for (path, is_glob, line) in imported.chain(named) {
                let Some(to) = tree.file_of(index, path, is_glob) else {
                    continue;
                };
                let from = module.file;
                if from != to && seen.insert((from, to)) {
                    edges.push(Import { from, to, line });
                }
            }
        }
        edges.sort();
        Some(Self {
            files: tree.files,
            edges,
        })
    }
}

#[derive(Default)]
struct Tree {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
}

/// What a path leads to.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// Something else, which this module defines.
    ItemOf(usize),
}

/// Re-exports of re-exports of …: deeper than any that we have.
const DEEPEST: usize = 16;

impl Tree {
    fn add_file(
        &mut self,
        parent: Option<usize>,
        file: PathBuf,
        text: &str,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> usize {
        let index = self.files.len();
        self.files.push(file);
        let first = self.modules.len();
        // A file's own module, and those that stand in it with their text.
        self.modules
            .extend(Module::parse(text, first, parent, index));
        for module in first..self.modules.len() {
            for name in self.modules[module].declared.clone() {
                let places = self.places(module, &name);
                let found = places
                    .into_iter()
                    .find_map(|place| Some((read(&place)?, place)));
                if let Some((text, place)) = found {
                    let child = self.add_file(Some(module), place, &text, read);
                    self.modules[module].children.insert(name, child);
                }
            }
        }
        first
    }

    /// Where the file of a module's child may be.
    fn places(&self, module: usize, name: &str) -> [PathBuf; 2] {
        let mut folder = PathBuf::new();
        let mut names = Vec::new();
        let mut current = module;
        while let Some(parent) = self.modules[current].parent {
            names.push(self.modules[current].name(&self.files));
            current = parent;
        }
        folder.extend(names.into_iter().rev());
        [
            folder.join(format!("{name}.rs")),
            folder.join(name).join("mod.rs"),
        ]
    }

    /// The file that defines what `path` names in `module`; none if that is a module or stands in
    /// another crate.
    fn file_of(&self, module: usize, path: &[String], is_glob: bool) -> Option<usize> {
        match self.resolve(module, path, 0)? {
            Target::ItemOf(module) => Some(self.modules[module].file),
            Target::Module(module) if is_glob => Some(self.modules[module].file),
            Target::Module(_) => None,
        }
    }

    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            _ if depth > DEEPEST => return None,
            "crate" => Target::Module(0),
            "self" => Target::Module(module),
            "super" => Target::Module(self.modules[module].parent?),
            name => self.member(module, name, depth)?,
        };
        rest.iter().try_fold(start, |target, name| match target {
            Target::Module(module) if name == "super" => {
                Some(Target::Module(self.modules[module].parent?))
            }
            Target::Module(module) if name == "self" => Some(Target::Module(module)),
            Target::Module(module) => Some(
                self.member(module, name, depth)
                    // Made by a macro, or named in a way that is not understood here.
                    .unwrap_or(Target::ItemOf(module)),
            ),
            // An associated item, a variant.
            Target::ItemOf(_) => Some(target),
        })
    }

    /// What `name` means in a module.
    fn member(&self, module: usize, name: &str, depth: usize) -> Option<Target> {
        let scope = &self.modules[module];
        if let Some(child) = scope.children.get(name) {
            return Some(Target::Module(*child));
        }
        if scope.items.contains(name) {
            return Some(Target::ItemOf(module));
        }
        let named = |import: &&Use| !import.is_glob && import.name == name;
        if let Some(import) = scope.uses.iter().find(named) {
            return self.resolve(module, &import.path, depth + 1);
        }
        let globs = scope.uses.iter().filter(|import| import.is_glob);
        globs.into_iter().find_map(|import| {
            match self.resolve(module, &import.path, depth + 1)? {
                Target::Module(other) if other != module => self.member(other, name, depth + 1),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Imports;

    /// `from → to` for each import of a crate whose files are `name: text`.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let read = |file: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == file);
            found.map(|(_, text)| (*text).to_owned())
        };
        let imports = Imports::of("lib.rs".into(), &read).unwrap();
        let name = |index: usize| imports.files[index].display().to_string();
        let edge = |edge: &super::Import| format!("{} → {}", name(edge.from), name(edge.to));
        imports.edges.iter().map(edge).collect()
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines() {
        let found = imports(&[
            (
                "lib.rs",
                "mod a;\nmod b;\npub use b::inner::Thing;\npub use a::*;\n",
            ),
            ("a.rs", "use crate::Thing;\npub struct A;\n"),
            ("b.rs", "mod inner;\nuse crate::{A as Other};\n"),
            ("b/inner.rs", "pub struct Thing;\nfn f() { super::g(); }\n"),
        ]);
        assert_eq!(
            found,
            ["a.rs → b/inner.rs", "b.rs → a.rs", "b/inner.rs → b.rs"]
        );
    }

    #[test]
    fn paths_in_the_code_count_and_modules_alone_do_not() {
        let found = imports(&[
            ("lib.rs", "mod a;\nmod b;\nfn f() { a::f(); }\n"),
            (
                "a.rs",
                "use crate::b;\npub fn f() -> std::io::Result<()> { b::g::<crate::b::B>() }\n",
            ),
            (
                "b.rs",
                "use crate::a;\npub(in crate::a) struct B;\npub fn g() { let a = 1; }\n",
            ),
        ]);
        assert_eq!(found, ["lib.rs → a.rs", "a.rs → b.rs"]);
    }

    #[test]
    fn tests_comments_and_other_crates_do_not_count() {
        let found = imports(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            (
                "a.rs",
                "//! See crate::b::B.\nuse loom::b;\n#[cfg(test)]\nmod tests { use super::B; }\n",
            ),
            ("b.rs", "pub struct B;\n#[cfg(test)]\nuse crate::a;\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
