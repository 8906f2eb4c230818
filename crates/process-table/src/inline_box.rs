//! A box for a value of a forgotten type that holds small ones in place.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::ops::{Deref, DerefMut};
use std::ptr;

/// Values of up to this many words lie in the box itself, so that submitting one allocates nothing.
const WORDS: usize = 4;

/// Where a small value lies.
pub type Room = [MaybeUninit<usize>; WORDS];

/// A `Box<T>` of a trait object that holds a value of up to four words in place.
pub struct InlineBox<T: ?Sized>(Place<T>);

enum Place<T: ?Sized> {
    Here(InPlace<T>),
    Boxed(Box<T>),
}

/// A value whose type only the function knows.
struct InPlace<T: ?Sized> {
    /// Turns the address of the room into that of the value.
    find: fn(*mut Room) -> *mut T,
    room: Room,
    /// Send, Sync and dropping are as for this.
    value: PhantomData<T>,
}

impl<T: ?Sized> InlineBox<T> {
    /// Takes the value in, which `find` turns into a `T`. `box_up` boxes it, if it is too large.
    ///
    /// # Safety
    /// `find` is `|room| room.cast::<V>()`, with the unsizing of `V` to `T`: it returns the address
    /// that it is given.
    pub unsafe fn new<V>(
        value: V,
        find: fn(*mut Room) -> *mut T,
        box_up: impl FnOnce(V) -> Box<T>,
    ) -> Self {
        if size_of::<V>() > size_of::<Room>() || align_of::<V>() > align_of::<Room>() {
            return Self::boxed(box_up(value));
        }
        let mut room: Room = [MaybeUninit::uninit(); WORDS];
        // SAFETY: the room is large and aligned enough, see above, and nothing is in it.
        unsafe { ptr::from_mut(&mut room).cast::<V>().write(value) };
        Self(Place::Here(InPlace {
            find,
            room,
            value: PhantomData,
        }))
    }

    /// Takes a value in that is boxed already.
    pub fn boxed(value: Box<T>) -> Self {
        Self(Place::Boxed(value))
    }

    /// The value in an ordinary box.
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

impl<T: ?Sized> Deref for InlineBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            // SAFETY: `new` has put a value of the type that `find` knows into the room, and it
            // moves with the room. It is only read through this, while `self` is borrowed.
            Place::Here(here) => unsafe { &*(here.find)(ptr::from_ref(&here.room).cast_mut()) },
            Place::Boxed(value) => value,
        }
    }
}

impl<T: ?Sized> DerefMut for InlineBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            // SAFETY: as in `deref`; and `self` is borrowed mutably.
            Place::Here(here) => unsafe { &mut *(here.find)(&raw mut here.room) },
            Place::Boxed(value) => value,
        }
    }
}

impl<T: ?Sized> Drop for InPlace<T> {
    fn drop(&mut self) {
        // SAFETY: as in `deref`; the room is not used again.
        unsafe { ptr::drop_in_place((self.find)(&raw mut self.room)) };
    }
}

impl<T: ?Sized> fmt::Debug for InlineBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InlineBox").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::InlineBox;

    trait Check: Send {
        /// Looks at the value, and changes it.
        fn check(&mut self);
    }

    /// `SIZE` bytes, aligned like `A`.
    struct Sample<A, const SIZE: usize> {
        bytes: [u8; SIZE],
        _aligned: [A; 0],
        _alive: Arc<()>,
    }

    impl<A: Send, const SIZE: usize> Check for Sample<A, SIZE> {
        fn check(&mut self) {
            assert!(std::ptr::from_ref(self).is_aligned());
            assert!(self.bytes.iter().all(|&byte| byte == 7));
            self.bytes.fill(8);
        }
    }

    fn inline<V: Check + 'static>(value: V) -> InlineBox<dyn Check> {
        // SAFETY: the address stays as it is.
        unsafe { InlineBox::new(value, |room| room.cast::<V>(), |value| Box::new(value)) }
    }

    fn lives_and_is_dropped_once<A: Send + 'static, const SIZE: usize>() {
        let alive = Arc::new(());
        let sample = || Sample::<A, SIZE> {
            bytes: [7; SIZE],
            _aligned: [],
            _alive: Arc::clone(&alive),
        };
        let mut value = inline(sample());
        assert_eq!(size_of_val(&*value), size_of::<Sample<A, SIZE>>());
        // It moves.
        let boxed = InlineBox::<dyn Check>::boxed(Box::new(sample()));
        let mut moved = Box::new(std::mem::replace(&mut value, boxed));
        for value in [&mut *moved, &mut value] {
            value.check();
        }
        assert_eq!(Arc::strong_count(&alive), 3);
        drop(moved);
        assert_eq!(Arc::strong_count(&alive), 2);
        let taken_out = value.into_boxed();
        assert_eq!(size_of_val(&*taken_out), size_of::<Sample<A, SIZE>>());
        drop(taken_out);
        assert_eq!(Arc::strong_count(&alive), 1);
        let taken_out = inline(sample()).into_boxed();
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(taken_out);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[repr(align(32))]
    struct Wide;

    #[test]
    fn small_large_and_overaligned_values() {
        lives_and_is_dropped_once::<u8, 0>();
        lives_and_is_dropped_once::<u64, 24>();
        lives_and_is_dropped_once::<u64, 25>();
        lives_and_is_dropped_once::<u64, 1000>();
        lives_and_is_dropped_once::<Wide, 1>();
    }

    #[test]
    fn it_is_small_and_may_be_sent() {
        assert!(size_of::<InlineBox<dyn Check>>() <= 5 * size_of::<usize>());
        fn send<T: Send>() {}
        send::<InlineBox<dyn Check>>();
    }
}
