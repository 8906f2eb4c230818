//! Names for processes that others look for.

use std::fmt;
use std::sync::Arc;

use crate::{Handle, Pid, Protocol};

impl<P: Protocol> Handle<P> {
    /// Gives the process `pid` of this scheduler a name, until it ends. A process may have many.
    /// Takes a lock for a moment.
    ///
    /// The example `log_server` of this crate has a process that others find by its name.
    ///
    /// # Errors
    /// [`RegisterError`], if a live process has that name, or the process has ended or is of
    /// another scheduler.
    pub fn register(&self, name: &str, pid: Pid) -> Result<(), RegisterError> {
        let gone = || RegisterError::Gone {
            name: name.into(),
            pid,
        };
        // With the pin it cannot leave the table before the name is in, so its leaving finds the
        // name.
        let process = self.table().pin(pid).ok_or_else(gone)?;
        process.slot().notify_when_vacated();
        if process.slot().events.is_closed() {
            return Err(gone());
        }
        let name: Arc<str> = name.into();
        let mut stale = None;
        while let Err(holder) = self.shared.names.give(&name, pid, stale) {
            if self.lives(holder) {
                return Err(RegisterError::Taken { name, holder });
            }
            // It has ended, and a pin still holds its slot. No generation comes twice.
            stale = Some(holder);
        }
        Ok(())
    }

    /// Takes a name away. Returns the process that had it, if a live one had. Takes a lock for a
    /// moment.
    pub fn unregister(&self, name: &str) -> Option<Pid> {
        let removed = self.shared.names.remove(name);
        removed.filter(|&pid| self.lives(pid))
    }

    /// The process of that name, if it lives. Takes a shared lock for a moment.
    pub fn whereis(&self, name: &str) -> Option<Pid> {
        let holder = self.shared.names.holder(name);
        holder.filter(|&pid| self.lives(pid))
    }

    /// Whether the process lives, and is of this scheduler.
    fn lives(&self, pid: Pid) -> bool {
        let process = self.table().pin(pid);
        process.is_some_and(|process| !process.slot().events.is_closed())
    }
}

/// Why a process did not get a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A live process has that name.
    Taken {
        /// The name.
        name: Arc<str>,
        /// The process that has it.
        holder: Pid,
    },
    /// No live process of this scheduler has that PID.
    Gone {
        /// The name.
        name: Arc<str>,
        /// The PID.
        pid: Pid,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name, holder } => {
                write!(f, "the name `{name}` is taken by process {holder}")
            }
            Self::Gone { name, pid } => write!(
                f,
                "no live process {pid} to name `{name}`: it has ended, or is of another scheduler"
            ),
        }
    }
}

impl std::error::Error for RegisterError {}
