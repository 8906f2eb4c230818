//! Control groups, which limit the memory of an action as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::digest::Digest;

/// The place where this process may make control groups.
#[derive(Debug)]
pub(super) struct Cgroups {
    folder: PathBuf,
    /// The file of the limit, which both versions name differently.
    limit: &'static str,
    /// The beginning of the names of groups.
    prefix: String,
    next: AtomicU64,
}

/// The group of an action. Dropping it removes it, once its processes have ended.
#[derive(Debug)]
pub(super) struct Cgroup {
    pub(super) folder: PathBuf,
}

impl Cgroups {
    /// Finds the place, and removes the groups that an earlier worker of this folder left there.
    pub(super) fn find(worker: &Path) -> Option<Arc<Self>> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let name = Digest::of(worker.as_os_str().as_encoded_bytes()).hex();
        let prefix = format!("filch-{}-", &name[..16]);
        let mut places = groups.lines().filter_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let path = path.trim_start_matches('/');
            let has_memory = controllers.split(',').any(|name| name == "memory");
            match controllers {
                "" => Some(("/sys/fs/cgroup", path, "memory.max")),
                _ if has_memory => Some(("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")),
                _ => None,
            }
        });
        places.find_map(|(top, path, limit)| {
            let place = Self {
                folder: Path::new(top).join(path),
                limit,
                prefix: prefix.clone(),
                next: AtomicU64::new(0),
            };
            place.clear();
            place.prepare().ok().map(|()| Arc::new(place))
        })
    }

    /// Makes a group with this limit.
    pub(super) fn next(&self, memory: u64) -> io::Result<Cgroup> {
        // ORDERING: Relaxed; only the number matters.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.make(&number.to_string(), memory)
    }

    fn make(&self, name: &str, memory: u64) -> io::Result<Cgroup> {
        let folder = self.folder.join(format!("{}{name}", self.prefix));
        fs::create_dir(&folder)?;
        let group = Cgroup { folder };
        fs::write(group.folder.join(self.limit), memory.to_string())?;
        // The second version only, and there without need.
        let _ = fs::write(group.folder.join("memory.oom.group"), "1");
        Ok(group)
    }

    /// Removes groups without processes.
    fn clear(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(&self.prefix) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// Checks that groups with limits can be made.
    fn prepare(&self) -> io::Result<()> {
        fs::metadata(self.folder.join("cgroup.procs"))?;
        let control = self.folder.join("cgroup.subtree_control");
        if control.exists() && fs::write(&control, "+memory").is_err() {
            // A group that has groups with limits may have no processes itself.
            let own = self.folder.join(format!("{}worker", self.prefix));
            fs::create_dir_all(&own)?;
            fs::write(own.join("cgroup.procs"), "0")?;
            if let Err(error) = fs::write(&control, "+memory") {
                fs::write(self.folder.join("cgroup.procs"), "0")?;
                let _ = fs::remove_dir(own);
                return Err(error);
            }
        }
        self.make("trial", 1 << 30).map(drop)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.folder) {
            let folder = self.folder.display();
            tracing::warn!(%folder, %error, "the control group of an action cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::mem::forget;

    use super::Cgroups;

    /// Where no group can be made, it tests nothing, and says so.
    #[test]
    fn groups_of_an_earlier_life_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let Some(first) = Cgroups::find(folder.path()) else {
            println!("no control group can be made here");
            return;
        };
        let left = first.next(1 << 30).unwrap();
        let limit = fs::read_to_string(left.folder.join(first.limit)).unwrap();
        assert_eq!(limit.trim(), (1 << 30).to_string());
        let of_another = tempfile::tempdir().unwrap();
        assert!(Cgroups::find(of_another.path()).is_some() && left.folder.exists());
        let place = left.folder.clone();
        // Its worker was killed.
        forget(left);
        assert!(Cgroups::find(folder.path()).is_some() && !place.exists());
    }
}
