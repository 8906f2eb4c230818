//! The copy of the tree in which all chosen mutants are compiled in, each dormant.
//!
//! A function that calls for its mutant is not `const`, so the copy's functions lose that word.
//! Those that a constant calls keep it, and their mutants are left out, as are those that do not
//! compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::edit::{Change, Edit, apply};
use super::function;
use super::operator;
use super::refusals;
use super::subject::Subject;
use super::switch;
use crate::support::copies;
use crate::support::error::Result;
use crate::support::process::{Tree, files_below, root};

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

/// Writes the copy with the mutants of `subjects`, until `packages` compile.
pub(super) fn build(subjects: &mut [Subject], packages: &[String]) -> Result<()> {
    let in_constants = names_in_constants()?;
    for subject in subjects.iter_mut() {
        if in_constants.contains(&subject.function.signature.ident.to_string()) {
            subject.left_out = (0..subject.mutants.len()).collect();
        }
    }
    let [tree, _] = trees();
    for _ in 0..ATTEMPTS {
        let mut instead = rewritten(subjects, &in_constants)?;
        let parent = instead.entry(switch::PARENT.into()).or_default();
        *parent += switch::DECLARATION;
        instead.insert(switch::PLACE.into(), switch::text());
        copies::make("mutants", std::slice::from_ref(&tree.root), &instead)?;
        let mut check = tree.cargo();
        check.args(["check", "--keep-going", "--message-format", "json"]);
        for package in packages {
            check.args(["--package", package]);
        }
        let output = check.output()?;
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
    subjects: &[Subject],
    in_constants: &BTreeSet<String>,
) -> Result<BTreeMap<PathBuf, String>> {
    let mut instead = BTreeMap::new();
    for file in files_below(root(), &["crates"], "rs")? {
        if file
            .components()
            .nth(2)
            .is_none_or(|part| part.as_os_str() != "src")
        {
            continue;
        }
        let text = fs::read_to_string(root().join(&file))?;
        let mut edits = Vec::new();
        for function in function::of(&file, &text)? {
            let name = function.signature.ident.to_string();
            if let Some(word) = &function.signature.constness
                && !in_constants.contains(&name)
            {
                edits.push(Edit {
                    bytes: word.span().byte_range(),
                    change: Change::Replace(String::new()),
                });
            }
        }
        for subject in subjects
            .iter()
            .filter(|subject| subject.function.file == file)
        {
            let (_, own) = operator::mutants(&subject.function, subject.first, &subject.left_out);
            edits.extend(own);
        }
        // The copy's style is nobody's concern.
        let is_root = file.ends_with("src/lib.rs");
        if is_root || !edits.is_empty() {
            let quiet = if is_root { "#![allow(warnings)] " } else { "" };
            instead.insert(file, format!("{quiet}{}", apply(&text, &mut edits)));
        }
    }
    Ok(instead)
}

/// The names of the functions that constants call, and of those that these call.
fn names_in_constants() -> Result<BTreeSet<String>> {
    let mut finder = Constants::default();
    for file in files_below(root(), &["crates", "loom-tests", "tests"], "rs")? {
        let text = fs::read_to_string(root().join(&file))?;
        if let Ok(syntax) = syn::parse_file(&text) {
            finder.visit_file(&syntax);
        }
    }
    let mut names = finder.called;
    loop {
        let inner = finder
            .within
            .iter()
            .filter(|(name, _)| names.contains(name));
        let more: Vec<_> = inner.flat_map(|(_, calls)| calls.clone()).collect();
        let before = names.len();
        names.extend(more);
        if names.len() == before {
            return Ok(names);
        }
    }
}

/// The functions that are called where constants are computed.
#[derive(Default)]
struct Constants {
    called: BTreeSet<String>,
    /// The functions that each constant function calls.
    within: Vec<(String, BTreeSet<String>)>,
}

impl<'ast> Visit<'ast> for Constants {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.called.extend(calls(&item.expr));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.called.extend(calls(&item.expr));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.called.extend(calls(&item.expr));
    }

    fn visit_expr_const(&mut self, of: &'ast syn::ExprConst) {
        self.called.extend(calls(&of.block));
    }

    fn visit_expr_repeat(&mut self, of: &'ast syn::ExprRepeat) {
        self.called.extend(calls(&of.len));
    }

    // `thread_local!` and the like.
    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        if of.tokens.to_string().contains("const {") {
            self.called.extend(calls(&of.tokens));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_some() {
            self.within
                .push((item.sig.ident.to_string(), calls(&item.block)));
        }
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_some() {
            self.within
                .push((item.sig.ident.to_string(), calls(&item.block)));
        }
        visit::visit_item_fn(self, item);
    }
}

/// The names before parentheses.
fn calls(of: &impl ToTokens) -> BTreeSet<String> {
    let text = of.to_token_stream().to_string();
    let pieces = text.match_indices('(').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let name = before
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    pieces.collect()
}
