//! A process in its slot: in place if it is small, else in a box.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::ops::{Deref, DerefMut};
use std::ptr;

use crate::{Process, Protocol};

/// Room for a process of up to this many words, so that submitting a small one allocates nothing.
const WORDS: usize = 4;

type Room = [MaybeUninit<usize>; WORDS];

/// A process that the scheduler has.
pub(crate) struct Resident<P: Protocol>(Place<P>);

enum Place<P: Protocol> {
    Here(InPlace<P>),
    Boxed(Box<dyn Process<P>>),
}

/// A process of a type that has been forgotten, but for the function that knows it.
struct InPlace<P: Protocol> {
    /// Turns the address of the room into that of the process.
    find: fn(*mut Room) -> *mut dyn Process<P>,
    room: Room,
    /// As far as Send, Sync and dropping go, it is this.
    process: PhantomData<dyn Process<P>>,
}

impl<P: Protocol> Resident<P> {
    pub(crate) fn new<T: Process<P> + 'static>(process: T) -> Self {
        if size_of::<T>() > size_of::<Room>() || align_of::<T>() > align_of::<Room>() {
            return Self::boxed(Box::new(process));
        }
        let mut room = [MaybeUninit::uninit(); WORDS];
        // SAFETY: it is large and aligned enough, see above, and nothing is in it.
        unsafe { room.as_mut_ptr().cast::<T>().write(process) };
        Self(Place::Here(InPlace {
            find: |room| room.cast::<T>(),
            room,
            process: PhantomData,
        }))
    }

    pub(crate) fn boxed(process: Box<dyn Process<P>>) -> Self {
        Self(Place::Boxed(process))
    }

    /// For whoever gets the process back.
    pub(crate) fn into_boxed(self) -> Box<dyn Process<P>> {
        let layout = Layout::for_value(&*self);
        match self.0 {
            Place::Boxed(process) => process,
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
                // SAFETY: `new` has put a process of that layout into the room, which is not used
                // again, nor dropped. `find` makes of an address one of that process, and here it
                // is what a box of it has.
                unsafe {
                    ptr::copy_nonoverlapping(room, memory, layout.size());
                    Box::from_raw((here.find)(memory.cast()))
                }
            }
        }
    }
}

impl<P: Protocol> Deref for Resident<P> {
    type Target = dyn Process<P>;

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            // SAFETY: `new` has put a process of the type that `find` knows into the room, and it
            // moves with the room. It is only read through this, for as long as `self` is borrowed.
            Place::Here(here) => unsafe { &*(here.find)(ptr::from_ref(&here.room).cast_mut()) },
            Place::Boxed(process) => &**process,
        }
    }
}

impl<P: Protocol> DerefMut for Resident<P> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.0 {
            // SAFETY: as in `deref`; and `self` is borrowed mutably.
            Place::Here(here) => unsafe { &mut *(here.find)(&raw mut here.room) },
            Place::Boxed(process) => &mut **process,
        }
    }
}

impl<P: Protocol> Drop for InPlace<P> {
    fn drop(&mut self) {
        // SAFETY: as in `deref`; the room is not used again.
        unsafe { ptr::drop_in_place((self.find)(&raw mut self.room)) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Resident;
    use crate::protocol::Nothing;
    use crate::{Context, Events, ExitReason, InitError, Process, StepOutput};

    /// `SIZE` bytes, aligned like `A`.
    struct Sample<A, const SIZE: usize> {
        bytes: [u8; SIZE],
        _aligned: [A; 0],
        _alive: Arc<()>,
    }

    impl<A: Send, const SIZE: usize> Process<Nothing> for Sample<A, SIZE> {
        fn init(
            &mut self,
            _: &Context<'_, Nothing>,
            _: &str,
            (): (),
        ) -> Result<(), InitError<Nothing>> {
            Ok(())
        }

        fn step(
            &mut self,
            _: &Context<'_, Nothing>,
            _: Events<'_, Nothing>,
            _: &mut StepOutput<Nothing>,
        ) -> Result<(), String> {
            Ok(())
        }

        fn close(&mut self, _: &ExitReason) {
            assert!(std::ptr::from_ref(self).is_aligned());
            assert!(self.bytes.iter().all(|&byte| byte == 7));
            self.bytes.fill(8);
        }
    }

    fn lives_and_is_dropped_once<A: Send + 'static, const SIZE: usize>() {
        let alive = Arc::new(());
        let process: Sample<A, SIZE> = Sample {
            bytes: [7; SIZE],
            _aligned: [],
            _alive: Arc::clone(&alive),
        };
        let mut resident = Resident::new(process);
        assert_eq!(size_of_val(&*resident), size_of::<Sample<A, SIZE>>());
        // It moves.
        let mut moved = Box::new(std::mem::replace(
            &mut resident,
            Resident::boxed(Box::new(Sample::<A, SIZE> {
                bytes: [7; SIZE],
                _aligned: [],
                _alive: Arc::clone(&alive),
            })),
        ));
        for resident in [&mut *moved, &mut resident] {
            resident.close(&ExitReason::Done);
        }
        assert_eq!(Arc::strong_count(&alive), 3);
        drop(moved);
        assert_eq!(Arc::strong_count(&alive), 2);
        let handed_back = resident.into_boxed();
        assert_eq!(size_of_val(&*handed_back), size_of::<Sample<A, SIZE>>());
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(handed_back);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[repr(align(32))]
    struct Wide;

    #[test]
    fn small_large_and_overaligned_processes() {
        lives_and_is_dropped_once::<u8, 0>();
        lives_and_is_dropped_once::<u64, 24>();
        lives_and_is_dropped_once::<u64, 25>();
        lives_and_is_dropped_once::<u64, 1000>();
        lives_and_is_dropped_once::<Wide, 1>();
    }

    #[test]
    fn a_resident_is_small() {
        assert!(size_of::<Resident<Nothing>>() <= 5 * size_of::<usize>());
        fn send<T: Send>() {}
        send::<Resident<Nothing>>();
    }
}
