//! Learns what an earlier process has left, while requests are answered.
//!
//! A start does not wait for this: with many entries it takes a while. Until it has ended, an entry
//! that the index does not know is looked for on the disk, so it does not matter where the earlier
//! process was killed.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use filch_sync::lock;

use super::disk::{Files, digits};
use super::name::{Kind, Name};
use crate::digest::Digest;

impl Files {
    /// Learns all that is there, unless it is to end.
    pub(super) fn learn(&self) {
        for kind in Kind::ALL {
            for byte in 0..=255_u8 {
                // ORDERING: Relaxed, as where it is stored.
                if self.ending.load(Ordering::Relaxed) {
                    return;
                }
                let folder = self.root.join(kind.folder()).join(digits(byte));
                let still = lock(&self.still);
                let listed = list(&folder, kind, byte);
                let mut index = self.index();
                let found = listed.unwrap_or_else(|error| {
                    let folder = folder.display();
                    tracing::error!(%folder, %error, "a folder of the cache cannot be listed");
                    Vec::new()
                });
                for (name, size, used) in found {
                    index.learn(name, size, used);
                }
                drop((index, still));
                self.learnt.notify_all();
            }
        }
        let mut index = self.index();
        index.learn_no_more();
        let (entries, bytes) = (index.entries(), index.used());
        // If it fails, more stays noted.
        let _ = self.held.note(&mut index, bytes);
        drop(index);
        self.learnt.notify_all();
        tracing::debug!(entries, bytes, "all of the cache is known");
        // The limit may be lower than it was.
        drop(self.with_entry_room(0));
    }
}

/// Lists the entries in a folder, their sizes and their last uses. Leaves files with other names
/// alone.
fn list(folder: &Path, kind: Kind, byte: u8) -> io::Result<Vec<(Name, u64, SystemTime)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let Ok(digest) = Digest::new(file_name.to_str().unwrap_or_default(), 0) else {
            continue;
        };
        let hash = *digest.hash();
        let data = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            data => data?,
        };
        if data.is_file() && hash[0] == byte {
            found.push((Name { kind, hash }, data.len(), data.modified()?));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, SystemTime};

    use super::super::disk::Files;
    use super::super::name::Name;

    const BLOCK: u64 = super::super::index::BLOCK;

    fn name(number: u8) -> Name {
        Name::blob(&[number; 32])
    }

    fn keep(files: &Files, number: u8, size: u64) {
        let file = files.temporary(&name(number), size).unwrap();
        file.as_file().set_len(size).unwrap();
        files.keep(file, name(number), size).unwrap();
    }

    /// Leaves entries of a block each, of which the first was used last.
    fn leave(root: &Path, limit: u64, numbers: &[u8]) {
        let files = Files::open(root, limit, 0).unwrap();
        files.learn();
        for (age, &number) in numbers.iter().enumerate() {
            keep(&files, number, BLOCK);
            let entry = files.file(&name(number)).unwrap().unwrap();
            let age = Duration::from_secs(1000 * (1 + age as u64));
            entry.set_modified(SystemTime::now() - age).unwrap();
        }
    }

    fn sizes(files: &Files, numbers: impl IntoIterator<Item = u8>) -> Vec<Option<u64>> {
        let sizes = numbers.into_iter().map(|number| files.size(&name(number)));
        sizes.collect()
    }

    #[test]
    fn what_is_there_is_found_before_it_is_learnt() {
        let folder = tempfile::tempdir().unwrap();
        leave(folder.path(), u64::MAX, &[1, 2, 3]);
        let files = Files::open(folder.path(), u64::MAX, 0).unwrap();
        let there = Some(BLOCK);
        assert_eq!(sizes(&files, [1, 9]), [there, None]);
        assert!(files.file(&name(2)).unwrap().is_some());
        assert!(files.file(&name(9)).unwrap().is_none());
        files.remove(&name(3)).unwrap();
        keep(&files, 4, 1);
        keep(&files, 1, 2 * BLOCK);
        assert_eq!(sizes(&files, [3, 4]), [None, Some(1)]);
        files.learn();
        let all = [Some(2 * BLOCK), there, None, Some(1), None];
        assert_eq!(sizes(&files, [1, 2, 3, 4, 9]), all);
        assert_eq!(files.usage(), (3, 4 * BLOCK));
    }

    #[test]
    fn where_there_is_room_nothing_waits_for_the_learning() {
        let folder = tempfile::tempdir().unwrap();
        let limit = 100 << 20;
        leave(folder.path(), limit, &[1, 2, 3]);
        let files = Files::open(folder.path(), limit, 0).unwrap();
        keep(&files, 4, 50 << 20);
        files.learn();
        assert_eq!(sizes(&files, 1..=4).into_iter().flatten().count(), 4);
    }

    /// The entry that was used longest ago stays, as it is used now; so does the new one. Another
    /// one goes before there are more than the limit allows.
    #[test]
    fn what_goes_before_all_is_learnt_is_nothing_that_was_just_used() {
        let folder = tempfile::tempdir().unwrap();
        let limit = 4 * BLOCK;
        leave(folder.path(), limit, &[1, 2, 3, 4]);
        let files = Files::open(folder.path(), limit, 0).unwrap();
        assert_eq!(sizes(&files, [4]), [Some(BLOCK)]);
        thread::scope(|scope| {
            let kept = scope.spawn(|| keep(&files, 5, BLOCK));
            files.learn();
            kept.join().unwrap();
        });
        assert_eq!(files.usage(), (4, limit));
        let left = sizes(&files, 1..=5);
        assert_eq!((left[3], left[4]), (Some(BLOCK), Some(BLOCK)));
        drop(files);
        // With a lower limit, those go that were not used, as soon as all is learnt.
        let files = Files::open(folder.path(), 2 * BLOCK, 0).unwrap();
        files.learn();
        assert_eq!(files.usage(), (2, 2 * BLOCK));
    }
}
