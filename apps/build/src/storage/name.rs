//! The names of entries.

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A blob, under its own hash.
    Blob,
    /// The result of an action, under the action's hash.
    Result,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Blob, Self::Result];

    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Blob => "blobs",
            Self::Result => "results",
        }
    }
}

/// The name of an entry. The size is not part of it, as clients that speak HTTP do not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) kind: Kind,
    pub(super) hash: [u8; 32],
}

impl Name {
    pub(super) const fn blob(hash: &[u8; 32]) -> Self {
        Self {
            kind: Kind::Blob,
            hash: *hash,
        }
    }

    pub(super) const fn result(hash: &[u8; 32]) -> Self {
        Self {
            kind: Kind::Result,
            hash: *hash,
        }
    }

    /// Returns the path. Folders named by two digits keep each folder small.
    pub(super) fn path(&self) -> String {
        let hex = crate::digest::hex(&self.hash);
        format!("{}/{}/{hex}", self.kind.folder(), &hex[..2])
    }
}
