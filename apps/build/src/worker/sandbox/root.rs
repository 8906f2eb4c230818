//! The root that an action sees.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_bind, mount_remount,
    move_mount, open_tree, unmount,
};
use rustix::process::pivot_root;

use super::{Report, Setup};

/// The action's own folder.
pub(super) const FOLDER: &str = "/build";

/// The place where the new root is made. What was there before is not needed.
const NEW: &str = "/tmp";

/// The parts of the system that actions see. No others of `/etc`, as there may be secrets.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// The mounts that stay as they are made.
const OWN: &[&str] = &["/tmp", "/proc", "/dev/shm", "/dev/pts"];

const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "dev/fd"),
    ("fd/0", "dev/stdin"),
    ("fd/1", "dev/stdout"),
    ("fd/2", "dev/stderr"),
    ("pts/ptmx", "dev/ptmx"),
];

/// A part of the system that actions see.
#[derive(Debug)]
struct Tree {
    path: PathBuf,
    /// The path without symbolic links.
    real: PathBuf,
    is_folder: bool,
    mounts: OwnedFd,
}

/// The parts of a new root, taken from the old one.
#[derive(Debug)]
pub(super) struct Parts {
    trees: Vec<Tree>,
    folder: OwnedFd,
}

impl Parts {
    /// Takes them with the rights that this process has now.
    pub(super) fn take(setup: &Setup) -> Result<Self, Report> {
        let folder = clone(as_path(&setup.folder))?;
        let mut trees: Vec<Tree> = Vec::new();
        let system = SYSTEM.iter().map(Path::new).filter(|path| path.exists());
        for path in system.chain(setup.visible.iter().map(|path| as_path(path))) {
            if trees.iter().any(|tree| path.starts_with(&tree.path)) {
                continue;
            }
            let real = path.canonicalize().map_err(at("find", path))?;
            if setup
                .hidden
                .iter()
                .any(|hidden| real.starts_with(as_path(hidden)))
            {
                let error = io::Error::other("the worker keeps its own files there");
                return Err(at("let actions see", path)(error));
            }
            trees.push(Tree {
                path: path.to_owned(),
                is_folder: real.is_dir(),
                mounts: clone(&real)?,
                real,
            });
        }
        Ok(Self { trees, folder })
    }

    /// Makes the new root of them.
    pub(super) fn build(self, setup: &Setup) -> Result<(), Report> {
        let size = setup.memory;
        let new = |path: &Path| Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path));
        file_system("tmpfs", Path::new(NEW), &format!("mode=755,size={size}"))?;
        for folder in ["tmp", "dev/shm", "dev/pts", "proc", "old", "build"] {
            let path = new(Path::new(folder));
            let mut builder = fs::DirBuilder::new();
            let made = builder.recursive(true).mode(0o755).create(&path);
            made.map_err(at("make the folder", &path))?;
        }
        for folder in ["tmp", "dev/shm"] {
            let data = format!("mode=1777,size={size}");
            file_system("tmpfs", &new(Path::new(folder)), &data)?;
        }
        let data = "newinstance,ptmxmode=0666,mode=620";
        file_system("devpts", &new(Path::new("dev/pts")), data)?;
        for device in DEVICES {
            let device = Path::new("/dev").join(device);
            let made =
                File::create(new(&device)).and_then(|_| Ok(mount_bind(&device, new(&device))?));
            made.map_err(at("mount", &device))?;
        }
        for (target, path) in LINKS {
            symlink(target, new(Path::new(path))).map_err(at("link", path.as_ref()))?;
        }
        attach(&self.folder, Path::new(NEW).join("build").as_path())?;
        for tree in &self.trees {
            let place = new(&tree.path);
            let made = if tree.is_folder {
                fs::create_dir_all(&place)
            } else {
                let made = fs::create_dir_all(place.parent().unwrap_or(&place));
                made.and_then(|()| File::create(&place).map(drop))
            };
            made.map_err(at("make", &place))?;
            attach(&tree.mounts, &place)?;
        }
        for tree in &self.trees {
            for hidden in &setup.hidden {
                if let Ok(below) = as_path(hidden).strip_prefix(&tree.real) {
                    hide(&new(&tree.path).join(below))?;
                }
            }
        }
        Ok(())
    }
}

/// Makes the new root the only one, with nothing to write to but the action's folder, `/tmp` and
/// devices.
pub(super) fn enter() -> Result<(), Report> {
    let new = Path::new(NEW);
    file_system("proc", &new.join("proc"), "")?;
    pivot_root(new, new.join("old")).map_err(at("leave the root for", new))?;
    let old = Path::new("/old");
    unmount(old, UnmountFlags::DETACH).map_err(at("leave", old))?;
    fs::remove_dir(old).map_err(at("remove", old))?;
    let list = Path::new("/proc/self/mountinfo");
    let mounts = fs::read_to_string(list).map_err(at("read", list))?;
    for line in mounts.lines() {
        let mut fields = line.split(' ').skip(4);
        let (Some(place), Some(options)) = (fields.next(), fields.next()) else {
            continue;
        };
        let place = unescape(place);
        let device = place.strip_prefix("/dev").ok().and_then(Path::to_str);
        if OWN.iter().any(|own| place == Path::new(own))
            || device.is_some_and(|device| DEVICES.contains(&device))
        {
            continue;
        }
        // The system refuses to take back flags that were set outside.
        let mut flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
        if options.split(',').any(|option| option == "noexec") {
            flags |= MountFlags::NOEXEC;
        }
        if place != Path::new(FOLDER) {
            flags |= MountFlags::RDONLY;
        }
        match mount_remount(&place, flags, "") {
            // Then the action cannot look at it either.
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::NOENT) => {}
            done => done.map_err(at("protect", &place))?,
        }
    }
    Ok(())
}

/// Hides a file or a folder that the action would see.
fn hide(place: &Path) -> Result<(), Report> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => file_system("tmpfs", place, "mode=000,size=4k"),
        Ok(_) => mount_bind("/dev/null", place).map_err(at("hide", place)),
        // Nor can the action.
        Err(_) => Ok(()),
    }
}

fn file_system(kind: &str, place: &Path, data: &str) -> Result<(), Report> {
    let flags = match kind {
        "proc" => MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
        "devpts" => MountFlags::NOSUID | MountFlags::NOEXEC,
        _ => MountFlags::NOSUID | MountFlags::NODEV,
    };
    let data = CString::new(data).unwrap_or_default();
    let mounted = mount(kind, place, kind, flags, data.as_c_str());
    mounted.map_err(at(&format!("mount a {kind} at"), place))
}

/// Clones the mounts at a path, and below it.
fn clone(path: &Path) -> Result<OwnedFd, Report> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(at("take", path))
}

fn attach(tree: &OwnedFd, place: &Path) -> Result<(), Report> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(tree, "", CWD, place, flags).map_err(at("mount", place))
}

/// Reads a path of the list of mounts, where some bytes are octal numbers.
fn unescape(field: &str) -> PathBuf {
    let mut parts = field.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_at_checked(3).unwrap_or(("", part));
        path.extend(u8::from_str_radix(number, 8).map(char::from));
        path.push_str(rest);
    }
    path.into()
}

fn at<E: Into<io::Error>>(what: &str, path: &Path) -> impl FnOnce(E) -> Report {
    Report::at(format!("{what} {}", path.display()))
}

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    OsStr::from_bytes(bytes).as_ref()
}
