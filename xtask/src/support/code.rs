//! Rust code as tokens: what of it is neither a comment nor a test.

use std::ffi::OsStr;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Result;

/// True if a file has tests alone: it is named `tests.rs`, or stands below a `tests`.
pub(crate) fn is_for_tests(file: &Path) -> bool {
    let mut parts = file.iter().filter_map(OsStr::to_str);
    parts.any(|part| part.trim_end_matches(".rs") == "tests")
}

/// The reach of an `ORDERING` note down to its access, in lines: notes are paragraphs, and one may
/// cover a short run of accesses.
const NOTE_REACHES: usize = 20;

/// Returns the lines from the nearest `ORDERING` note down to a line, if there is one within reach
/// in the same item: a closing brace in the first column ends another one.
pub(crate) fn note_above<'a, 'b>(lines: &'a [&'b str], line: usize) -> Option<&'a [&'b str]> {
    let above = &lines[line.saturating_sub(NOTE_REACHES)..=line];
    let end = above.iter().rposition(|line| *line == "}");
    let own = &above[end.map_or(0, |end| end + 1)..];
    let note = own.iter().rposition(|line| line.contains("ORDERING"))?;
    Some(&own[note..])
}

/// The code of a file without what is compiled for tests only.
pub(crate) fn shipped(text: &str) -> Result<TokenStream> {
    let code: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    Ok(without_tests(code))
}

fn without_tests(code: TokenStream) -> TokenStream {
    let mut rest = code.into_iter().peekable();
    let mut shipped = Vec::new();
    while let Some(token) = rest.next() {
        match (&token, rest.peek()) {
            (TokenTree::Punct(mark), Some(TokenTree::Group(attribute)))
                if mark.as_char() == '#' && begins_tests(&format!("#[{}", attribute.stream())) =>
            {
                // Up to the end of the item.
                let _ = rest.find(|token| match token {
                    TokenTree::Punct(mark) => mark.as_char() == ';',
                    TokenTree::Group(block) => block.delimiter() == Delimiter::Brace,
                    _ => false,
                });
            }
            (TokenTree::Group(group), _) => {
                let code = without_tests(group.stream());
                let mut inside = Group::new(group.delimiter(), code);
                inside.set_span(group.span());
                shipped.push(inside.into());
            }
            _ => shipped.push(token),
        }
    }
    shipped.into_iter().collect()
}

/// True if a word of the code is this one.
pub(crate) fn has_word(code: TokenStream, word: &str) -> bool {
    any_token(
        code,
        &|token| matches!(token, TokenTree::Ident(own) if own == word),
    )
}

/// True if it is so of any token of the code that is no group.
pub(crate) fn any_token(code: TokenStream, is_it: &dyn Fn(&TokenTree) -> bool) -> bool {
    code.into_iter().any(|token| match &token {
        TokenTree::Group(group) => any_token(group.stream(), is_it),
        _ => is_it(&token),
    })
}

/// True if an item under this attribute is test code, under whatever other conditions.
pub(crate) fn begins_tests(code: &str) -> bool {
    let condition = code.trim_start().strip_prefix("#[cfg");
    condition.is_some_and(|condition| contains_word(condition, &["test"]))
}

/// True if any of `words` occurs with no part of an identifier around it.
pub(crate) fn contains_word(text: &str, words: &[&str]) -> bool {
    let mut found = words.iter().flat_map(|word| before_word(text, word));
    found.next().is_some()
}

/// The text before each place where a word stands with no part of an identifier around it.
pub(crate) fn before_word<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).filter_map(move |(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        is_whole.then_some(before)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_word, shipped};

    #[test]
    fn what_is_compiled_for_tests_only_is_left_out() {
        let code = "use a;\n#[cfg(test)]\nuse b;\n/// C.\n#[cfg(all(test, unix))]\n\
                    mod tests { fn f() { c() } }\nfn d() { #[cfg(test)] e(); f() }\n\
                    #[cfg(not(loom))]\nuse g; // h\nconst I: &str = \"i\";";
        let shipped = shipped(code).unwrap();
        let has = |word: &&str| has_word(shipped.clone(), word);
        let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "I"];
        let found: Vec<_> = words.into_iter().filter(has).collect();
        assert_eq!(found, ["a", "d", "f", "g", "I"]);
    }
}
