//! The modules of a file: what each declares, defines, imports and names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::support::code::{without_comments, without_tests};

/// One module.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Of one that stands in its parent's file; empty for a file's own.
    inline_name: String,
    /// An index into the tree of modules.
    pub(super) parent: Option<usize>,
    /// An index into the list of files.
    pub(super) file: usize,
    /// Those with a file of their own.
    pub(super) declared: Vec<String>,
    /// By name, as indices into the tree.
    pub(super) children: BTreeMap<String, usize>,
    /// The names of what is defined here, modules left out.
    pub(super) items: BTreeSet<String>,
    pub(super) uses: Vec<Use>,
    /// Paths in the code, and their lines.
    pub(super) paths: Vec<(Vec<String>, usize)>,
}

/// One name that a `use` binds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// Empty for a glob.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    pub(super) is_glob: bool,
    /// A re-export, as far as `pub` goes.
    pub(super) is_public: bool,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Module {
    /// The modules in a file's `text`, its own first; the indices begin with `first`.
    pub(super) fn parse(text: &str, first: usize, parent: Option<usize>, file: usize) -> Vec<Self> {
        let code = without_tests(&without_comments(text));
        let tokens = tokens(&code);
        let mut parser = Parser {
            tokens: &tokens,
            position: 0,
            first,
            file,
            modules: vec![Self {
                parent,
                file,
                ..Self::default()
            }],
        };
        parser.block(0);
        parser.modules
    }

    /// The module's name, which is also the name of its children's folder.
    pub(super) fn name(&self, files: &[PathBuf]) -> String {
        if !self.inline_name.is_empty() {
            return self.inline_name.clone();
        }
        let path = files[self.file].with_extension("");
        let name = path.file_name().unwrap_or_default();
        let folder = path.parent().and_then(|folder| folder.file_name());
        let name = if name == "mod" {
            folder.unwrap_or(name)
        } else {
            name
        };
        name.to_string_lossy().into_owned()
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Token<'t> {
    /// A word, `::`, or one character.
    text: &'t str,
    /// Counted from 1.
    line: usize,
}

impl Token<'_> {
    fn is_word(&self) -> bool {
        let first = self.text.chars().next();
        first.is_some_and(|first| first.is_alphabetic() || first == '_')
    }
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (index, content) in code.lines().enumerate() {
        let mut rest = content.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_part = |character: char| character.is_alphanumeric() || character == '_';
            let length = if is_part(first) {
                rest.find(|character| !is_part(character))
                    .unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (text, behind) = rest.split_at(length);
            let line = index + 1;
            tokens.push(Token { text, line });
            rest = behind.trim_start();
        }
    }
    tokens
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    position: usize,
    /// The index of the file's own module in the tree.
    first: usize,
    file: usize,
    modules: Vec<Module>,
}

impl<'t> Parser<'t> {
    fn peek(&self, ahead: usize) -> &'t str {
        self.tokens
            .get(self.position + ahead)
            .map_or("", |token| token.text)
    }

    /// Reads up to the brace that closes the block, or to the end; `module` is an index into
    /// `modules`.
    fn block(&mut self, module: usize) {
        let mut depth = 0_usize;
        let mut is_public = false;
        while let Some(token) = self.tokens.get(self.position) {
            let at_statement = matches!(self.before(), "" | ";" | "{" | "}" | "]" | ")" | "pub");
            match token.text {
                "pub" => {
                    is_public = true;
                    self.position += 1;
                    // `pub(in path)` imports nothing.
                    if self.peek(0) == "("
                        && matches!(self.peek(1), "crate" | "super" | "self" | "in")
                    {
                        while !matches!(self.peek(0), ")" | "") {
                            self.position += 1;
                        }
                        self.position += 1;
                    }
                    continue;
                }
                "mod" if at_statement && self.peek(2) == ";" => {
                    let name = self.peek(1).to_owned();
                    self.modules[module].declared.push(name);
                    self.position += 3;
                }
                "mod" if at_statement && self.peek(2) == "{" => self.inline_module(module),
                "use" if at_statement => self.import(module, is_public, token.line),
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                | "macro_rules" => {
                    self.position += 1;
                    // At the module's own level; the rest belongs to some item.
                    if depth == 0 {
                        let is_name = |text: &&str| !matches!(*text, "!" | "mut" | "unsafe" | "fn");
                        let name = (0..3).map(|ahead| self.peek(ahead)).find(is_name);
                        self.modules[module].items.extend(name.map(str::to_owned));
                    }
                }
                "{" => {
                    depth += 1;
                    self.position += 1;
                }
                "}" => {
                    self.position += 1;
                    match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return,
                    }
                }
                _ if token.is_word() && self.peek(1) == "::" && self.before() != "::" => {
                    self.path(module, token.line);
                }
                _ => self.position += 1,
            }
            is_public = false;
        }
    }

    fn before(&self) -> &'t str {
        let before = self.position.checked_sub(1);
        before.map_or("", |before| self.tokens[before].text)
    }

    fn inline_module(&mut self, parent: usize) {
        let index = self.modules.len();
        let name = self.peek(1).to_owned();
        self.modules.push(Module {
            inline_name: name.clone(),
            parent: Some(self.first + parent),
            file: self.file,
            ..Module::default()
        });
        self.modules[parent]
            .children
            .insert(name, self.first + index);
        self.position += 3;
        self.block(index);
    }

    fn path(&mut self, module: usize, line: usize) {
        let mut path = vec![self.peek(0).to_owned()];
        while self.peek(1) == "::"
            && self
                .tokens
                .get(self.position + 2)
                .is_some_and(Token::is_word)
        {
            path.push(self.peek(2).to_owned());
            self.position += 2;
        }
        self.position += 1;
        self.modules[module].paths.push((path, line));
    }

    fn import(&mut self, module: usize, is_public: bool, line: usize) {
        self.position += 1;
        let mut uses = Vec::new();
        self.use_tree(&mut Vec::new(), &mut uses);
        // Up to the semicolon, whatever was not understood.
        while !matches!(self.peek(0), ";" | "") {
            self.position += 1;
        }
        for (name, path) in uses {
            self.modules[module].uses.push(Use {
                is_glob: name == "*",
                name: if name == "*" { String::new() } else { name },
                path,
                is_public,
                line,
            });
        }
    }

    /// Reads one branch of a `use`; `prefix` is what stands in front of it.
    fn use_tree(&mut self, prefix: &mut Vec<String>, uses: &mut Vec<(String, Vec<String>)>) {
        let depth = prefix.len();
        loop {
            match self.peek(0) {
                "{" => {
                    self.position += 1;
                    while !matches!(self.peek(0), "}" | ";" | "") {
                        self.use_tree(prefix, uses);
                        if self.peek(0) == "," {
                            self.position += 1;
                        }
                    }
                    self.position += 1;
                    break;
                }
                "*" => {
                    self.position += 1;
                    uses.push(("*".to_owned(), prefix.clone()));
                    break;
                }
                "::" => self.position += 1,
                word => {
                    // A path keeps no `self` at its end: that is the module itself.
                    if word != "self" || depth == prefix.len() && prefix.is_empty() {
                        prefix.push(word.to_owned());
                    }
                    self.position += 1;
                    if self.peek(0) == "::" {
                        continue;
                    }
                    let name = if self.peek(0) == "as" {
                        self.position += 2;
                        self.before().to_owned()
                    } else {
                        prefix.last().cloned().unwrap_or_default()
                    };
                    uses.push((name, prefix.clone()));
                    break;
                }
            }
        }
        prefix.truncate(depth);
    }
}

#[cfg(test)]
mod tests {
    use super::Module;

    #[test]
    fn a_use_binds_each_of_its_branches() {
        let text = "use crate::{a::{self, B as C}, d::*};\npub(crate) use super::e;\n";
        let module = &Module::parse(text, 0, None, 0)[0];
        let uses = module.uses.iter().map(|import| {
            let path = import.path.join("::");
            format!(
                "{} = {path}, {} {}",
                import.name, import.is_glob, import.is_public
            )
        });
        let expected = [
            "a = crate::a, false false",
            "C = crate::a::B, false false",
            " = crate::d, true false",
            "e = super::e, false true",
        ];
        assert!(uses.eq(expected));
    }

    #[test]
    fn modules_items_and_paths_are_found() {
        let text = "mod a;\npub mod b { pub struct C; }\nconst fn d() { e::f(); }\n\
                    unsafe impl G for h::I {}\n";
        let modules = Module::parse(text, 5, Some(2), 7);
        assert_eq!(modules.len(), 2);
        assert_eq!(modules[0].declared, ["a"]);
        assert_eq!(modules[0].children["b"], 6);
        assert!(modules[0].items.iter().eq(["d"]));
        let paths: Vec<_> = modules[0]
            .paths
            .iter()
            .map(|(path, _)| path.join("::"))
            .collect();
        assert_eq!(paths, ["e::f", "h::I"]);
        assert!(modules[1].items.contains("C"));
        assert_eq!((modules[1].parent, modules[1].file), (Some(5), 7));
    }
}
