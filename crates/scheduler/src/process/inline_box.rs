//! A small value of an erased type, in place: a process, or an output.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::ops::{Deref, DerefMut};
use std::ptr;

use crate::{Process, Protocol};

/// A trait object that holds a value of up to so many words in place, without an allocation. A
/// larger value comes in a `Box`, which is small.
///
/// The value may refer to itself, once the box does not move any more. (The box is never `Unpin`:
/// so a mutable reference to it, or to a value around it, does not claim to be the only way to the
/// value.)
pub(crate) struct InlineBox<T: ?Sized, const WORDS: usize = 4> {
    /// Turns the address of the room into that of the value.
    find: fn(*mut ()) -> *mut T,
    /// Holds a value whose type only `find` knows.
    room: [MaybeUninit<usize>; WORDS],
    /// Makes it Send and Sync if a `T` is, and drops as one.
    value: PhantomData<T>,
    _pinned: PhantomPinned,
}

impl<T: ?Sized, const WORDS: usize> InlineBox<T, WORDS> {
    /// Checks if a `V` has room in place.
    pub(crate) const fn fits<V>() -> bool {
        size_of::<V>() <= size_of::<[usize; WORDS]>() && align_of::<V>() <= align_of::<usize>()
    }

    /// Takes in a value that [fits](Self::fits), which `find` turns into a `T`.
    ///
    /// # Safety
    /// `find` is `|room| room.cast::<V>()`, with the unsizing of `V` to `T`: it returns the address
    /// that it is given.
    pub(crate) unsafe fn new<V>(value: V, find: fn(*mut ()) -> *mut T) -> Self {
        assert!(Self::fits::<V>(), "a larger value comes in a box");
        let mut this = Self {
            find,
            room: [MaybeUninit::uninit(); WORDS],
            value: PhantomData,
            _pinned: PhantomPinned,
        };
        // SAFETY: the room is large and aligned enough, see above, and nothing is in it.
        unsafe { (&raw mut this.room).cast::<V>().write(value) };
        this
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// It holds a `V`.
    pub(crate) unsafe fn take<V>(self) -> V {
        let this = ManuallyDrop::new(self);
        // SAFETY: the room holds a `V` (contract), and is not used again, nor dropped.
        unsafe { ptr::from_ref(&this.room).cast::<V>().read() }
    }
}

/// A value that does not fit. A type of its own: a `Box` may be a value, too.
struct Large<V>(Box<V>);

impl<const WORDS: usize> InlineBox<dyn Any + Send, WORDS> {
    /// Takes in any value.
    pub(crate) fn any<V: Any + Send>(value: V) -> Self {
        if Self::fits::<V>() {
            // SAFETY: the cast keeps the address.
            unsafe { Self::new(value, |room| room.cast::<V>()) }
        } else {
            // SAFETY: as above.
            unsafe { Self::new(Large(Box::new(value)), |room| room.cast::<Large<V>>()) }
        }
    }

    /// Borrows the value, if it is a `V`.
    pub(crate) fn downcast_ref<V: Any>(&self) -> Option<&V> {
        match (**self).downcast_ref::<Large<V>>() {
            Some(Large(value)) => Some(value),
            None => (**self).downcast_ref(),
        }
    }

    /// Takes the value out, if it is a `V`.
    ///
    /// # Errors
    /// The box, if it holds another type.
    pub(crate) fn downcast<V: Any>(self) -> Result<V, Self> {
        if (*self).is::<V>() {
            // SAFETY: it is a `V`.
            Ok(unsafe { self.take() })
        } else if (*self).is::<Large<V>>() {
            // SAFETY: it is a `Large`.
            Ok(*unsafe { self.take::<Large<V>>() }.0)
        } else {
            Err(self)
        }
    }
}

impl<T: ?Sized, const WORDS: usize> Deref for InlineBox<T, WORDS> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` has put a value of the type that `find` knows into the room, and it moves
        // with the room. It is only read through this, while `self` is borrowed.
        unsafe { &*(self.find)(ptr::from_ref(&self.room).cast_mut().cast()) }
    }
}

impl<T: ?Sized, const WORDS: usize> DerefMut for InlineBox<T, WORDS> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; and `self` is borrowed mutably.
        unsafe { &mut *(self.find)((&raw mut self.room).cast()) }
    }
}

impl<T: ?Sized, const WORDS: usize> Drop for InlineBox<T, WORDS> {
    fn drop(&mut self) {
        // SAFETY: as in `deref`; the room is not used again.
        unsafe { ptr::drop_in_place((self.find)((&raw mut self.room).cast())) };
    }
}

impl<T: ?Sized, const WORDS: usize> fmt::Debug for InlineBox<T, WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InlineBox").finish_non_exhaustive()
    }
}

/// A process in the scheduler: in place, if it is small.
pub(crate) type ProcessBox<P> = InlineBox<dyn Process<P>>;

pub(crate) fn process_box<P: Protocol, T: Process<P> + 'static>(process: T) -> ProcessBox<P> {
    if ProcessBox::<P>::fits::<T>() {
        // SAFETY: the cast keeps the address.
        unsafe { InlineBox::new(process, |room| room.cast::<T>()) }
    } else {
        // SAFETY: as above.
        unsafe { InlineBox::new(Box::new(process), |room| room.cast::<Box<T>>()) }
    }
}

/// A process that gets a place, or else is handed back.
pub(crate) struct NewProcess<P: Protocol> {
    pub(crate) process: ProcessBox<P>,
    unbox: fn(ProcessBox<P>) -> Box<dyn Process<P>>,
}

impl<P: Protocol> NewProcess<P> {
    pub(crate) fn new<T: Process<P> + 'static>(process: T) -> Self {
        Self {
            process: process_box(process),
            // SAFETY: `process_box` has put it in, in place or in a box. A `Box<dyn Process>` is in
            // place, and comes out as it is.
            unbox: |process| unsafe {
                if TypeId::of::<T>() == TypeId::of::<Box<dyn Process<P>>>() {
                    process.take()
                } else if ProcessBox::<P>::fits::<T>() {
                    Box::new(process.take::<T>())
                } else {
                    process.take::<Box<T>>()
                }
            },
        }
    }

    pub(crate) fn into_box(self) -> Box<dyn Process<P>> {
        (self.unbox)(self.process)
    }
}

#[cfg(test)]
mod tests;
