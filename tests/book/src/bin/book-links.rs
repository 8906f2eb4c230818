//! An mdbook preprocessor that rewrites the links of included files for the book
//! (`book_tests::links`).
//! mdbook first asks `book-links supports html`; then it writes its context and the book to the
//! standard input, as JSON, and reads the book from the standard output.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;

use book_tests::links::{Pages, rewrite};
use serde_json::Value;

/// Changes a page's text, by its path.
type Change<'a> = &'a mut dyn FnMut(&Path, &mut String);

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some() {
        return Ok(()); // `supports`: every renderer
    }
    let (_context, mut book): (Value, Value) = serde_json::from_reader(io::stdin().lock())?;
    let mut pages = Pages::new();
    for_each_page(&mut book, &mut |path, _| {
        pages.insert(path.to_owned());
    });
    for_each_page(&mut book, &mut |path, text| {
        *text = rewrite(text, path, &pages);
    });
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &book)?;
    Ok(output.flush()?)
}

/// Calls `change` for every chapter that has a file, wherever the JSON holds it.
fn for_each_page(value: &mut Value, change: Change<'_>) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| for_each_page(item, change)),
        Value::Object(fields) => {
            let path = fields
                .get("path")
                .and_then(Value::as_str)
                .map(str::to_owned);
            if let (Some(path), Some(Value::String(text))) = (path, fields.get_mut("content")) {
                change(Path::new(&path), text);
            }
            fields
                .values_mut()
                .for_each(|field| for_each_page(field, change));
        }
        _ => {}
    }
}
