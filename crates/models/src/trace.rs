//! The steps of an execution that fails, and what is said of it.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, Location};
use std::path::Path;
use std::sync::Once;
use std::{env, thread};

use filch_sync::recorded::{self, Step};

use crate::columns::Table;
use crate::panic_message;
use crate::source::Sources;

thread_local! {
    /// The current execution of this thread; 0 outside of a search. A search and all threads of its
    /// model run on one system thread.
    static CURRENT: Cell<u64> = const { Cell::new(0) };

    /// The steps of a model that was expected to fail, which are shown once it is known that it did
    /// so by its symptom; `None` while no model is.
    pub(crate) static EXPECTED: RefCell<Option<Vec<Step>>> = const { RefCell::new(None) };

    /// The last claim of this test that was found to hold.
    pub(crate) static SOUND: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes that execution `number` begins, so that its first panic can name and show it: a process
/// that aborts has no later chance.
pub(crate) fn begin(number: u64) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if recorded::is_deadlock() {
                return; // told already: this is loom, which finds its threads waiting
            }
            let payload = panic.payload();
            // loom also unwinds a finished thread, by a payload that is no message.
            let has_failed = payload.is::<&str>() || payload.is::<String>();
            let number = if has_failed { CURRENT.take() } else { 0 };
            if number > 0 {
                let steps = recorded::take(panic_message(payload));
                let shown = EXPECTED.with_borrow_mut(|expected| match expected {
                    Some(expected) => {
                        *expected = steps;
                        String::new()
                    }
                    None => show(steps, panic_message(payload)),
                });
                // Not `eprintln!`, which panics if it cannot write.
                _ = writeln!(io::stderr(), "execution {number} fails:\n{shown}");
            }
            usual(panic);
        }));
    });
    CURRENT.set(number);
    recorded::begin();
}

/// Notes that the search is over.
pub(crate) fn end() {
    CURRENT.set(0);
}

/// Explains the steps to a thread of a model, on a stack of its own: that of the thread is small.
fn show(steps: Vec<Step>, message: &str) -> String {
    let message = message.to_owned();
    let shown = thread::spawn(move || as_asked(&Table::new(&steps, &message)));
    shown.join().unwrap_or_default()
}

/// Returns the table, or what `cargo xtask loom --json` asks for.
fn as_asked(table: &Table) -> String {
    match env::var_os("FILCH_LOOM_JSON") {
        Some(_) => table.json(),
        None => table.markdown(false),
    }
}

/// Prints the table of a known bug, adds it to the page of its test if `cargo xtask loom` wants
/// one, and returns it. `place` is that of the harness's call.
pub(crate) fn caught(
    claim: &str,
    symptom: &str,
    message: &str,
    steps: &[Step],
    place: &Location<'_>,
) -> String {
    let table = Table::new(steps, message);
    println!("{claim}:\n{}", as_asked(&table));
    let table = table.markdown(true);
    let Some(folder) = env::var_os("FILCH_LOOM_TABLES") else {
        return table;
    };
    let test = thread::current().name().unwrap_or_default().to_owned();
    let module = test.split("::").next().unwrap_or_default();
    let story = Sources::default().story(place, claim);
    let sound = SOUND.with_borrow(|claim| match &**claim {
        "" if module == "tour" => "the stages that hold".to_owned(),
        "" => module.replace("known_bugs_", "the models of "),
        claim => format!("“{claim}”"),
    });
    let facts = format!("- ends with “{symptom}”\n- model: `{test}`\n- sound: {sound}");
    let text = format!("## {claim}\n\n{story}\n\n{facts}\n\n{table}\n");
    let path = Path::new(&folder).join(test.replace("::", ".") + ".md");
    let page = File::options().create(true).append(true).open(path);
    let written = page.and_then(|mut page| page.write_all(text.as_bytes()));
    written.expect("the page can be written");
    table
}
