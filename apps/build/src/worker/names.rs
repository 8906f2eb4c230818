//! The rules for file names, paths of outputs and targets of symbolic links.

/// The most bytes of a path below the folder of an action.
const PATH: usize = 3072;

/// The most bytes of a name.
const NAME: usize = 255;

/// Refuses a text that cannot be the name of a file in a folder.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    match name {
        "" => Err("a name is empty".to_owned()),
        "." | ".." => Err(format!("{name:?} is not a name")),
        _ if name.contains(['/', '\0']) => Err(format!("{name:?} is not a name")),
        _ if name.len() > NAME => Err(format!("{name:?} is longer than {NAME} bytes")),
        _ => Ok(()),
    }
}

/// Refuses a text that is not a relative path of valid names.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    if path.len() > PATH {
        return Err(format!("{path:?} is longer than {PATH} bytes"));
    }
    if path.starts_with('/') {
        return Err(format!("{path:?} is an absolute path"));
    }
    path.split('/')
        .try_for_each(check_name)
        .map_err(|why| format!("{path:?} is not a path: {why}"))
}

/// Takes the steps that lead nowhere out of a relative path, as some clients send `.`, `./f` and
/// `d/`. Refuses what [`check_path`] refuses then, but for the empty path.
pub(super) fn normal(path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Err(format!("{path:?} is an absolute path"));
    }
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    let normal = steps.collect::<Vec<_>>().join("/");
    if !normal.is_empty() {
        check_path(&normal)?;
    }
    Ok(normal)
}

/// Lists the folders on the way to a path, and the path itself.
pub(crate) fn ways(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    ends.chain([path.len()]).map(|end| &path[..end])
}

/// Refuses a symbolic link that is absolute or leaves the folder; `path` is its place.
pub(crate) fn check_link(path: &str, target: &str) -> Result<(), String> {
    let refuse = |why| Err(format!("the symbolic link {path:?} to {target:?} {why}"));
    if target.is_empty() || target.contains('\0') {
        return refuse("has no target");
    }
    if target.len() > PATH {
        return refuse("is too long");
    }
    if target.starts_with('/') {
        return refuse("is absolute");
    }
    let mut depth = path.split('/').count() - 1;
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." if depth == 0 => return refuse("leaves the folder"),
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_link, check_name, check_path};

    #[test]
    fn names_and_paths_that_are_not_are_refused() {
        for name in ["", ".", "..", "a/b", "/", "a\0", &"x".repeat(256)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for path in ["", "/a", "a/", "a//b", "a/../b", "./a", "..", "a/\0"] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        for path in ["a", "a/b", "...", "a/..b", &"x".repeat(255)] {
            assert_eq!(check_path(path), Ok(()), "{path:?}");
        }
    }

    #[test]
    fn links_stay_in_the_folder() {
        for (path, target) in [
            ("a", ".."),
            ("a/b", "../.."),
            ("a", "/"),
            ("a", ""),
            ("a", "b/../.."),
        ] {
            assert!(check_link(path, target).is_err(), "{path:?} {target:?}");
        }
        for (path, target) in [
            ("a", "b"),
            ("a", "."),
            ("a/b", ".."),
            ("a/b", "../c/./../d"),
        ] {
            assert_eq!(check_link(path, target), Ok(()), "{path:?} {target:?}");
        }
    }
}
