//! The project's README: its Rust examples compile and run (see `Readme` in `src/lib.rs`), and its
//! model is the one that loom explores.

/// Returns the lines from the first one that starts with `from` to the next one that equals
/// `until`, both included.
fn excerpt<'a>(text: &'a str, from: &str, until: &str) -> Vec<&'a str> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with(from))
        .peekable();
    assert!(lines.peek().is_some(), "no line starts with `{from}`");
    let mut excerpt = Vec::new();
    for line in lines {
        excerpt.push(line);
        if line == until {
            return excerpt;
        }
    }
    panic!("no line `{until}` after `{from}`");
}

#[test]
fn the_model_in_the_readme_is_the_one_that_is_checked() {
    const FROM: &str = "let claim = ";
    const UNTIL: &str = "outcomes.assert_exactly([(Some(7), None), (None, Some(7))]);";
    let shown = excerpt(include_str!("../../../README.md"), FROM, UNTIL);
    let checked = excerpt(
        include_str!("../../../loom-tests/tests/readme.rs"),
        FROM,
        UNTIL,
    );
    assert_eq!(shown, checked);
}
