//! What a job is called.

use std::ptr::{self, NonNull};
// std's in a model, too: it orders nothing.
use std::sync::atomic::{AtomicPtr, Ordering};

/// Says what a closure is called: the function that it stands in (see [`std::any::type_name`]).
pub(crate) struct Name(pub(super) fn() -> &'static str);

impl Name {
    pub(crate) fn get(&self) -> &'static str {
        (self.0)()
    }
}

/// A place for a name, which others read at any time.
#[derive(Debug, Default)]
pub(crate) struct NameCell(AtomicPtr<Name>);

impl NameCell {
    pub(crate) fn set(&self, name: &'static Name) {
        // ORDERING: Relaxed: the name is a constant of the program.
        self.0
            .store(ptr::from_ref(name).cast_mut(), Ordering::Relaxed);
    }

    /// The last one, if there was one.
    pub(crate) fn get(&self) -> Option<&'static str> {
        // ORDERING: Relaxed: as in `set`.
        let name = NonNull::new(self.0.load(Ordering::Relaxed))?;
        // SAFETY: `set` stored it, and was given something static.
        Some(unsafe { name.as_ref() }.get())
    }
}
