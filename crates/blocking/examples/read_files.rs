//! Reads files on threads that may block, while this thread goes on with something else.
//!
//! `cargo run -p filch-blocking --example read_files`

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use filch_blocking::BlockingPool;

/// Lists the files in a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect()
}

fn main() -> io::Result<()> {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))?;
    // At most four calls block at a time.
    let limit = NonZeroUsize::MIN.saturating_add(3);
    let pool = BlockingPool::new(limit);
    let (read, results) = mpsc::channel();
    for file in &files {
        let (file, read) = (file.clone(), read.clone());
        pool.run_labelled(file.display().to_string(), move || {
            let lines = fs::read_to_string(&file).map(|text| text.lines().count());
            // An error is a result like any other: the caller gets it.
            let _ = read.send((file, lines));
        });
    }
    drop(read);

    // This thread does not read, so nothing here waits for a file.
    let ahead: u64 = (1..=1000).sum();

    let mut lines = 0;
    let mut answers = 0;
    for (file, counted) in results {
        let counted = counted?;
        println!("{counted:5} {}", file.display());
        lines += counted;
        answers += 1;
    }
    assert_eq!((answers, ahead), (files.len(), 500_500));
    println!("{lines:5} lines in {answers} files");
    // A file on a dead network drive would show here, instead of keeping the program.
    for call in pool.shutdown(Duration::from_secs(1)) {
        eprintln!("still reading: {call}");
    }
    Ok(())
}
