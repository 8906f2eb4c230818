//! Blocking calls beside computing tasks: on a single processor, a task that waits for an answer
//! from another task gives its processor away meanwhile. Without `blocking` this would hang.
//!
//! ```sh
//! cargo run --release --example lookup
//! ```

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};

use filch_processors::{Config, Processors, Runner};

enum Task {
    /// Looks a word up, and waits for its length.
    Ask(&'static str),
    /// Answers with the length of a word.
    Answer(&'static str, Sender<usize>),
}

struct Library {
    found: Mutex<Vec<(&'static str, usize)>>,
}

impl Runner<Task> for Library {
    type Scratch = ();

    fn scratch(&self, _machine: usize) {}

    fn run(&self, task: Task, pool: &Arc<Processors<Task>>, (): &mut ()) {
        match task {
            Task::Ask(word) => {
                let (to, from) = mpsc::channel();
                pool.schedule(Task::Answer(word, to));
                // The answer needs a processor, and there is only this task's: it goes to another
                // thread until `recv` returns.
                let length = pool.blocking(|| from.recv());
                let length = length.expect("the other task answers");
                self.found.lock().unwrap().push((word, length));
            }
            Task::Answer(word, to) => to.send(word.len()).expect("the asking task waits"),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = ["park", "steal", "inject"];
    let pool = Processors::new(Config::default().processors(1))?;
    let library = Arc::new(Library {
        found: Mutex::default(),
    });
    let machines = Processors::start(&pool, Arc::clone(&library))?;
    for word in words {
        pool.inject(Task::Ask(word));
    }
    // A pool that is told to stop runs what is left, and waits for calls that are under way.
    pool.stop();
    machines.join();

    let mut found = library.found.lock().unwrap().clone();
    found.sort_by_key(|&(_, length)| length);
    assert_eq!(found, words.map(|word| (word, word.len())));
    let stats = pool.stats()[0];
    assert_eq!((stats.blocking_calls, stats.blocked_in_place), (3, 0));
    println!(
        "{found:?}, on one processor and {} threads",
        pool.threads().started
    );
    Ok(())
}
