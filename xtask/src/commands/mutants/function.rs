//! The functions of a file, and what tells whether one of them has changed.

use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItemFn, ItemFn, ItemImpl, ItemMod, Signature, TraitItemFn, Type};

use crate::support::Result;

/// A function with a body, in shipped code.
pub(crate) struct Function {
    /// The path relative to the workspace's root.
    pub(super) file: PathBuf,
    /// The name with its type: `Claim::drop`.
    pub(crate) name: String,
    /// The signature and body, without comments and white space.
    pub(crate) fingerprint: String,
    pub(super) signature: Signature,
    pub(super) block: Block,
}

/// The functions of a file, in its order; those of tests, and what only people read, are left out.
pub(crate) fn of(file: &Path, text: &str) -> Result<Vec<Function>> {
    let syntax = syn::parse_file(text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut finder = Finder {
        file,
        owner: Vec::new(),
        found: Vec::new(),
    };
    finder.visit_file(&syntax);
    // Two of one name, in two impls: the second is told apart.
    let mut found = finder.found;
    for index in 0..found.len() {
        let same = |other: &&Function| other.name == found[index].name;
        let before = found[..index].iter().filter(same).count();
        if before > 0 {
            found[index].name += &format!("#{}", before + 1);
        }
    }
    Ok(found)
}

struct Finder<'f> {
    file: &'f Path,
    /// The types whose impls are open, the innermost last.
    owner: Vec<String>,
    found: Vec<Function>,
}

impl Finder<'_> {
    fn add(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if is_for_tests(attributes) {
            return;
        }
        let name = match self.owner.last() {
            Some(owner) => format!("{owner}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let (head, body) = (signature.to_token_stream(), block.to_token_stream());
        self.found.push(Function {
            file: self.file.to_owned(),
            name,
            fingerprint: fingerprint(&format!("{head} {body}")),
            signature: signature.clone(),
            block: block.clone(),
        });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let last = |path: &syn::Path| path.segments.last().map(|last| last.ident.to_string());
        let of_trait = item.trait_.as_ref().and_then(|(_, path, _)| last(path));
        let is_for_people = matches!(of_trait.as_deref(), Some("Debug" | "Display"));
        if is_for_tests(&item.attrs) || is_for_people {
            return;
        }
        let owner = match &*item.self_ty {
            Type::Path(path) => last(&path.path),
            _ => None,
        };
        self.owner.push(owner.unwrap_or_else(|| "_".to_owned()));
        visit::visit_item_impl(self, item);
        self.owner.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.add(&item.attrs, &item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.add(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.attrs, &item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// True if an item under these attributes is compiled for tests, or for one checker, only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        let is_for = |word: &&str| text.contains(word);
        let is_condition = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test")
            || is_condition && ["test", "loom", "shuttle"].iter().any(is_for)
    })
}

/// 32 bits of FNV-1a: enough to notice a change, and nobody attacks it.
pub(crate) fn fingerprint(tokens: &str) -> String {
    let mut hash = 0x811c_9dc5_u32;
    for byte in tokens.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of;

    fn named(text: &str) -> Vec<(String, String)> {
        let functions = of(Path::new("a.rs"), text).unwrap();
        let pairs = functions
            .into_iter()
            .map(|function| (function.name, function.fingerprint));
        pairs.collect()
    }

    #[test]
    fn functions_are_named_with_their_types() {
        let text = "fn a() {}\nimpl A { fn b() {} }\nimpl Drop for A { fn drop(&mut self) {} }\n\
                    impl Debug for A { fn fmt() {} }\n#[cfg(test)]\nmod t { fn c() {} }\n\
                    impl C for A { fn b() {} }";
        let names: Vec<_> = named(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "A::b", "A::drop", "A::b#2"]);
    }

    #[test]
    fn comments_do_not_change_a_function_and_code_does() {
        let print = |text| named(text)[0].1.clone();
        assert_eq!(
            print("fn a() { b(1) }"),
            print("/// A.\nfn a() {\n // B.\n b(1)\n}")
        );
        assert_ne!(print("fn a() { b(1) }"), print("fn a() { b(2) }"));
    }
}
