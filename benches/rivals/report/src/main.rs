//! Compares two stored runs, and publishes one: the pages of docs and the chart of the front page.

use std::path::Path;
use std::process::ExitCode;

use filch_report::compare::comparison;
use filch_report::published;
use filch_report::run::Run;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--compare", before, after] => compare(before, after),
        ["--tables"] => published::write(None),
        ["--tables", folder] => published::write(Some(folder.as_ref())),
        _ => Err("--compare BEFORE AFTER, or --tables [FOLDER]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(before: &str, after: &str) -> Result<(), String> {
    let [before, after] = [before, after].map(|path| Run::read_all(Path::new(path)));
    print!("{}", comparison(&before?, &after?));
    Ok(())
}
