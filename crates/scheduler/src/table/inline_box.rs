//! A box for a value of an erased type, which holds small values in place.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::any::Any;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::ops::{Deref, DerefMut};
use std::{fmt, ptr};

/// A `Box<T>` of a trait object that holds a value of up to so many words in place, without an
/// allocation.
///
/// The value may refer to itself, once the box does not move any more. (The box is never `Unpin`:
/// so a mutable reference to it, or to a value around it, does not claim to be the only way to the
/// value.)
pub struct InlineBox<T: ?Sized, const WORDS: usize = 4>(Place<T, WORDS>);

enum Place<T: ?Sized, const WORDS: usize> {
    Here(InPlace<T, WORDS>),
    Boxed(Box<T>),
}

/// Turns the address of the room into that of the value.
type Find<T> = fn(*mut ()) -> *mut T;

/// A value whose type only the function knows.
struct InPlace<T: ?Sized, const WORDS: usize> {
    find: Find<T>,
    room: [MaybeUninit<usize>; WORDS],
    /// Makes it Send and Sync if a `T` is, and drops as one.
    value: PhantomData<T>,
    _pinned: PhantomPinned,
}

impl<T: ?Sized, const WORDS: usize> InlineBox<T, WORDS> {
    /// Takes in the value, which `find` turns into a `T`. `box_up` boxes it, if it is too large.
    ///
    /// # Safety
    /// `find` is `|room| room.cast::<V>()`, with the unsizing of `V` to `T`: it returns the address
    /// that it is given.
    pub unsafe fn new<V>(
        value: V,
        find: fn(*mut ()) -> *mut T,
        box_up: impl FnOnce(V) -> Box<T>,
    ) -> Self {
        if size_of::<V>() > size_of::<[usize; WORDS]>() || align_of::<V>() > align_of::<usize>() {
            return Self::boxed(box_up(value));
        }
        let mut place = Place::Here(InPlace {
            find,
            room: [MaybeUninit::uninit(); WORDS],
            value: PhantomData,
            _pinned: PhantomPinned,
        });
        if let Place::Here(here) = &mut place {
            // SAFETY: the room is large and aligned enough, see above, and nothing is in it.
            unsafe { (&raw mut here.room).cast::<V>().write(value) };
        }
        Self(place)
    }

    /// Takes in a value that is boxed already.
    pub fn boxed(value: Box<T>) -> Self {
        Self(Place::Boxed(value))
    }

    /// Moves the value into an ordinary box.
    pub fn into_boxed(self) -> Box<T> {
        let layout = Layout::for_value(&*self);
        match self.0 {
            Place::Boxed(value) => value,
            Place::Here(here) => {
                let memory = match layout.size() {
                    0 => ptr::without_provenance_mut(layout.align()),
                    // SAFETY: the size is not 0.
                    _ => unsafe { alloc(layout) },
                };
                if memory.is_null() {
                    handle_alloc_error(layout);
                }
                let here = ManuallyDrop::new(here);
                let room = ptr::from_ref(&here.room).cast();
                // SAFETY: `new` has put a value of that layout into the room, which is not used
                // again, nor dropped. `find` keeps the address, and the memory is what a box of
                // such a value has.
                unsafe {
                    ptr::copy_nonoverlapping(room, memory, layout.size());
                    Box::from_raw((here.find)(memory.cast()))
                }
            }
        }
    }
}

impl<const WORDS: usize> InlineBox<dyn Any + Send, WORDS> {
    /// Takes in any value.
    pub fn any<V: Any + Send>(value: V) -> Self {
        // SAFETY: the cast keeps the address.
        unsafe { Self::new(value, |room| room.cast::<V>(), |value| Box::new(value)) }
    }

    /// Takes the value out, if it is a `V`.
    ///
    /// # Errors
    /// The box, if it holds another type.
    pub fn downcast<V: Any>(self) -> Result<V, Self> {
        if !(*self).is::<V>() {
            return Err(self);
        }
        match self.0 {
            Place::Boxed(value) => match value.downcast() {
                Ok(value) => Ok(*value),
                Err(_) => unreachable!("it is a `V`"),
            },
            Place::Here(here) => {
                let here = ManuallyDrop::new(here);
                // SAFETY: the room holds a `V`, and is not used again, nor dropped.
                Ok(unsafe { ptr::from_ref(&here.room).cast::<V>().read() })
            }
        }
    }
}

impl<T: ?Sized, const WORDS: usize> Deref for InlineBox<T, WORDS> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            // SAFETY: `new` has put a value of the type that `find` knows into the room, and it
            // moves with the room. It is only read through this, while `self` is borrowed.
            Place::Here(here) => unsafe {
                &*(here.find)(ptr::from_ref(&here.room).cast_mut().cast())
            },
            Place::Boxed(value) => value,
        }
    }
}

impl<T: ?Sized, const WORDS: usize> DerefMut for InlineBox<T, WORDS> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            // SAFETY: as in `deref`; and `self` is borrowed mutably.
            Place::Here(here) => unsafe { &mut *(here.find)((&raw mut here.room).cast()) },
            Place::Boxed(value) => value,
        }
    }
}

impl<T: ?Sized, const WORDS: usize> Drop for InPlace<T, WORDS> {
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

#[cfg(test)]
mod tests;
