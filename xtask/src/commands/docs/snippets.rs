//! The code of a tested program, in a page: what stands between `ANCHOR` comments of a source
//! follows the line `<!-- code: PATH ANCHOR -->`.

use std::io;

use crate::support::Result;

/// The beginning of the line above the code.
pub(super) const MARK: &str = "<!-- code: ";

/// Returns the page with the code in it as the sources have it.
pub(super) fn fill(page: &str, read: impl Fn(&str) -> io::Result<String>) -> Result<String> {
    let mut filled = String::with_capacity(page.len());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        filled = filled + line + "\n";
        let Some(place) = line.strip_prefix(MARK) else {
            continue;
        };
        let place = place
            .strip_suffix(" -->")
            .and_then(|place| place.split_once(' '));
        let (source, anchor) = place.ok_or_else(|| format!("`{line}` names no place"))?;
        let fence = lines.next().filter(|line| line.starts_with("```"));
        filled = filled + fence.ok_or_else(|| format!("no code below `{line}`"))? + "\n";
        filled += &part(&read(source)?, anchor).ok_or_else(|| format!("no code for `{line}`"))?;
        lines
            .find(|line| *line == "```")
            .ok_or("code without an end")?;
        filled += "```\n";
    }
    Ok(filled)
}

/// Returns the lines of an anchor, which may begin again after its end, as far to the left as they
/// go. The comments of anchors are left out.
fn part(source: &str, anchor: &str) -> Option<String> {
    let (mut is_in, mut part) = (false, Vec::new());
    for line in source.lines() {
        let mark = line.trim_start().strip_prefix("// ANCHOR");
        match mark.and_then(|mark| mark.split_once(": ")) {
            Some((end, name)) if name == anchor => is_in = end.is_empty(),
            Some(_) => {}
            None if is_in => part.push(line),
            None => {}
        }
    }
    let code = part.iter().filter(|line| !line.is_empty());
    let margin = code
        .map(|line| line.len() - line.trim_start().len())
        .min()?;
    let shifted = part
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default());
    Some(shifted.flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::fill;

    const SOURCE: &str = "fn f() {\n    // ANCHOR: a\n    if g() {\n        // ANCHOR: b\n        \
                          h();\n\n        // ANCHOR_END: b\n    }\n    // ANCHOR_END: a\n}\n";

    fn filled(page: &str) -> Option<String> {
        fill(page, |_| Ok(SOURCE.to_owned())).ok()
    }

    #[test]
    fn code_is_as_its_source_has_it() {
        let page = "One.\n<!-- code: s.rs a -->\n```rust\nold\n```\nTwo.\n";
        let code = "if g() {\n        h();\n\n}\n".replace("        h", "    h");
        assert_eq!(filled(page), Some(page.replace("old\n", &code)));
    }

    #[test]
    fn code_that_is_not_there_is_an_error() {
        for page in [
            "<!-- code: s.rs c -->\n```\n```\n",
            "<!-- code: s.rs a -->\nx\n",
        ] {
            assert_eq!(filled(page), None);
        }
    }
}
