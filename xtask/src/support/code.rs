//! Rust code as text: what of it is neither a comment, nor a string, nor a test.

/// `text` with its comments, strings and character literals blanked; positions and lines stay.
pub(crate) fn without_comments(text: &str) -> String {
    let mut blanked = text.as_bytes().to_vec();
    let mut position = 0;
    while position < blanked.len() {
        let rest = &text.as_bytes()[position..];
        let length = literal_or_comment(rest, is_part_of_name(text.as_bytes(), position));
        for byte in &mut blanked[position..position + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        position += length.max(1);
    }
    String::from_utf8(blanked).expect("whole characters are replaced by spaces, or none")
}

fn is_part_of_name(text: &[u8], position: usize) -> bool {
    let before = position.checked_sub(1).map(|before| text[before]);
    before.is_some_and(|before| before.is_ascii_alphanumeric() || before == b'_')
}

/// How long the comment or the literal is with which `rest` begins; 0 if it begins with neither.
fn literal_or_comment(rest: &[u8], within_name: bool) -> usize {
    let until = |end: &[u8]| {
        let at = rest
            .windows(end.len())
            .skip(1)
            .position(|found| found == end);
        at.map_or(rest.len(), |at| at + 1 + end.len())
    };
    match rest {
        [b'/', b'/', ..] => until(b"\n") - usize::from(rest.contains(&b'\n')),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => string(rest),
        [b'r', b'"' | b'#', ..] if !within_name => {
            let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
            if rest.get(1 + hashes) != Some(&b'"') {
                return 0;
            }
            let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
            let body = 2 + hashes;
            let at = rest[body..]
                .windows(end.len())
                .position(|found| found == end);
            at.map_or(rest.len(), |at| body + at + end.len())
        }
        // A character, not a lifetime or a label.
        [b'\'', b'\\', _, tail @ ..] => {
            let end = tail.iter().position(|byte| *byte == b'\'');
            end.map_or(0, |end| 3 + end + 1)
        }
        [b'\'', first, ..] => {
            let width = match *first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                0
            }
        }
        _ => 0,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut position) = (0_usize, 0);
    while position < rest.len() {
        match &rest[position..] {
            [b'/', b'*', ..] => depth += 1,
            [b'*', b'/', ..] => depth -= 1,
            _ => {
                position += 1;
                continue;
            }
        }
        position += 2;
        if depth == 0 {
            break;
        }
    }
    position
}

fn string(rest: &[u8]) -> usize {
    let mut position = 1;
    while position < rest.len() {
        match rest[position] {
            b'\\' => position += 2,
            b'"' => return position + 1,
            _ => position += 1,
        }
    }
    rest.len()
}

/// `code`, which has no comments, with each item under `#[cfg(test)]` blanked, as under any other
/// condition that names `test`.
pub(crate) fn without_tests(code: &str) -> String {
    let mut shipped = code.to_owned();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(") {
        let begin = from + found;
        let line = code[begin..].lines().next().unwrap_or_default();
        if !begins_tests(line) {
            from = begin + 1;
            continue;
        }
        let end = begin + item_length(&code[begin..]);
        let blank = |character| if character == '\n' { '\n' } else { ' ' };
        let blanks: String = code[begin..end].chars().map(blank).collect();
        shipped.replace_range(begin..end, &blanks);
        from = end;
    }
    shipped
}

/// The length of the item with whose attribute `code` begins: up to its `;`, or to the end of its
/// braces.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (position, character) in code.char_indices() {
        match character {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && character == '}' {
                    return position + 1;
                }
            }
            ';' if depth == 0 => return position + 1,
            _ => {}
        }
    }
    code.len()
}

/// Whether an item under this attribute is test code, under whatever other conditions.
pub(crate) fn begins_tests(code: &str) -> bool {
    code.trim_start().starts_with("#[cfg(") && contains_word(code, &["test"])
}

/// Whether any of `words` occurs with no part of an identifier around it.
pub(crate) fn contains_word(text: &str, words: &[&str]) -> bool {
    let is_identifier = |character: char| character.is_alphanumeric() || character == '_';
    words.iter().any(|word| {
        text.match_indices(word).any(|(start, _)| {
            let before = text[..start].chars().next_back();
            let after = text[start + word.len()..].chars().next();
            !before.is_some_and(is_identifier) && !after.is_some_and(is_identifier)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{without_comments, without_tests};

    #[test]
    fn comments_and_literals_are_blanked_and_nothing_moves() {
        let text = "a(\"b \\\" c\", '\"', 'x', b'\\'', r#\"d \" e\"#); // f\n\
                    /* g /* h */ i */ j::<'k>('é');\n";
        let code = without_comments(text);
        assert_eq!(code.len(), text.len());
        let words: Vec<_> = code.split_whitespace().collect();
        let expected = ["a(", ",", ",", ",", "b", ",", ");", "j::<'k>(", ");"];
        assert_eq!(words, expected);
        assert_eq!(code.lines().count(), 2);
    }

    #[test]
    fn what_is_compiled_for_tests_only_is_blanked() {
        let code = "use a;\n#[cfg(test)]\nuse b;\n#[cfg(all(test, unix))]\n\
                    mod tests { fn f() { c() } }\nfn d() {}\n#[cfg(not(loom))]\nuse e;\n";
        let shipped = without_tests(code);
        let words: Vec<_> = shipped.split_whitespace().collect();
        assert_eq!(
            words,
            [
                "use",
                "a;",
                "fn",
                "d()",
                "{}",
                "#[cfg(not(loom))]",
                "use",
                "e;"
            ]
        );
        assert_eq!(shipped.lines().count(), code.lines().count());
    }
}
