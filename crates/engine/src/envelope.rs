//! A task on its way, without its type; with it, its waiter.

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::ptr::NonNull;

use filch_sync::panic::drop_contained;

use crate::completion::{Awaited, Part};
use crate::route::{Task, TaskKind};

/// A task on its way, in four words. Most tasks fit in it: an allocation, freed on another thread,
/// would cost as much as all other work for a task.
pub(crate) struct Envelope {
    pub(crate) kind: TaskKind,
    methods: &'static Methods,
    /// A letter of the type of `methods`.
    room: Room,
}

/// The contents of an envelope: a task, and its part in a wait, if somebody waits.
struct Letter<T, A> {
    task: T,
    /// Behind the task, so dropped after it, even if its destructor panics.
    awaited: A,
}

/// Room for a letter, or for a box with one that does not fit. A task may have cells of its own,
/// which change behind a shared reference.
type Room = UnsafeCell<MaybeUninit<[*mut (); 2]>>;

/// The operations on a letter of one type in its room, for code that does not know the type.
///
/// Each is unsafe: the room must have such a letter.
struct Methods {
    type_id: fn() -> TypeId,
    task: unsafe fn(&Room) -> NonNull<()>,
    copy: unsafe fn(&Room) -> Room,
    /// Drops it, and contains a panic of its destructor. The flag says that it has run.
    end: unsafe fn(&Room, bool),
}

// SAFETY: a letter is `Send`.
unsafe impl Send for Envelope {}

impl Envelope {
    pub(crate) fn new<T: Task>(kind: TaskKind, task: T) -> Self {
        let awaited = ();
        Self::with(kind, Letter { task, awaited })
    }

    /// Makes an envelope that reports when the task has run, or is dropped.
    pub(crate) fn tracked<T: Task>(kind: TaskKind, task: T, awaited: Awaited) -> Self {
        Self::with(kind, Letter { task, awaited })
    }

    fn with<T: Task, A: Part>(kind: TaskKind, letter: Letter<T, A>) -> Self {
        let methods = const {
            &Methods {
                type_id: TypeId::of::<Letter<T, A>>,
                task: task::<T, A>,
                copy: copy::<T, A>,
                end: end::<T, A>,
            }
        };
        let room = put(letter);
        Self {
            kind,
            methods,
            room,
        }
    }

    /// Makes a copy for another worker.
    ///
    /// # Panics
    /// If the task's `clone` panics.
    pub(crate) fn copy(&self) -> Self {
        Self {
            kind: self.kind,
            methods: self.methods,
            // SAFETY: the methods are those of the letter in the room.
            room: unsafe { (self.methods.copy)(&self.room) },
        }
    }

    /// Returns a pointer to the task, valid until this moves.
    pub(crate) fn task(&self) -> NonNull<()> {
        // SAFETY: the methods are those of the letter in the room.
        unsafe { (self.methods.task)(&self.room) }
    }

    /// Ends the task as run.
    pub(crate) fn ran(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the methods are those of the letter in the room, which nobody looks at again.
        unsafe { (this.methods.end)(&this.room, true) };
    }

    /// Takes the task out: it has that type, and nobody waits for it.
    pub(crate) fn into_task<T: Task>(self) -> T {
        let this = ManuallyDrop::new(self);
        assert_eq!((this.methods.type_id)(), TypeId::of::<Letter<T, ()>>());
        // SAFETY: the room has a letter of that type, and nobody looks at it again.
        let letter: Letter<T, ()> = unsafe { take(&this.room) };
        letter.task
    }
}

impl Drop for Envelope {
    fn drop(&mut self) {
        // SAFETY: the methods are those of the letter in the room, which nobody looks at again.
        unsafe { (self.methods.end)(&self.room, false) };
    }
}

const fn fits<L>() -> bool {
    size_of::<L>() <= size_of::<Room>() && align_of::<L>() <= align_of::<Room>()
}

fn put<L>(letter: L) -> Room {
    let room = Room::new(MaybeUninit::uninit());
    let place = room.get();
    if fits::<L>() {
        // SAFETY: it fits, and the room is ours.
        unsafe { place.cast::<L>().write(letter) };
    } else {
        let letter = Box::into_raw(Box::new(letter));
        // SAFETY: a pointer fits, and the room is ours.
        unsafe { place.cast::<*mut L>().write(letter) };
    }
    room
}

/// # Safety
/// The room has an `L`.
unsafe fn place<L>(room: &Room) -> NonNull<L> {
    if fits::<L>() {
        // SAFETY: a place is not null.
        return unsafe { NonNull::new_unchecked(room.get().cast()) };
    }
    // SAFETY: then it has a pointer that came from a box.
    unsafe { NonNull::new_unchecked(room.get().cast::<*mut L>().read()) }
}

/// # Safety
/// The room has an `L`, and nobody looks at it again.
unsafe fn take<L>(room: &Room) -> L {
    // SAFETY: the caller's.
    let place = unsafe { place::<L>(room) };
    if fits::<L>() {
        // SAFETY: it is there, and goes out by this.
        return unsafe { place.read() };
    }
    // SAFETY: it came from a box, and nobody else frees that.
    *unsafe { Box::from_raw(place.as_ptr()) }
}

/// # Safety
/// As [`place`].
unsafe fn task<T: Task, A: Part>(room: &Room) -> NonNull<()> {
    // SAFETY: the caller's.
    let letter = unsafe { place::<Letter<T, A>>(room).as_ref() };
    NonNull::from(&letter.task).cast()
}

/// # Safety
/// As [`place`].
unsafe fn copy<T: Task, A: Part>(room: &Room) -> Room {
    // SAFETY: the caller's.
    let letter = unsafe { place::<Letter<T, A>>(room).as_ref() };
    // Before the task: if its `clone` panics, this copy is dropped.
    let awaited = letter.awaited.copy();
    let task = letter.task.clone();
    put(Letter { task, awaited })
}

/// # Safety
/// As [`take`].
unsafe fn end<T: Task, A: Part>(room: &Room, has_run: bool) {
    // SAFETY: the caller's.
    let place = unsafe { place::<Letter<T, A>>(room) };
    if has_run {
        // SAFETY: it is there.
        unsafe { place.as_ref() }.awaited.has_run();
    }
    let letter = Ends(place);
    match needs_drop::<T>() {
        true => drop_contained(letter),
        false => drop(letter),
    }
}

/// Drops a letter in its place, which may be larger than this fiber's stack. [`put`] put it there,
/// and nobody looks at it again.
struct Ends<L>(NonNull<L>);

impl<L> Drop for Ends<L> {
    fn drop(&mut self) {
        if fits::<L>() {
            // SAFETY: it is there.
            unsafe { self.0.drop_in_place() };
        } else {
            // SAFETY: it came from a box, and nobody else frees that.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Checks that a task fits its envelope or not, is copied, and is dropped once.
    fn goes<T: Task + PartialEq + std::fmt::Debug>(task: T, fits: bool) {
        assert_eq!(super::fits::<Letter<T, ()>>(), fits);
        let envelope = Envelope::new(TaskKind(7), task.clone());
        let other = envelope.copy();
        let moved = Box::new(other);
        assert_eq!(moved.kind, TaskKind(7));
        // SAFETY: it is a `T`, and stays where it is meanwhile.
        assert_eq!(unsafe { moved.task().cast::<T>().as_ref() }, &task);
        moved.ran();
        assert_eq!(envelope.into_task::<T>(), task);
    }

    #[test]
    fn tasks_of_all_sizes() {
        goes((), true);
        goes(1_u8, true);
        goes((1_u64, 2_u64), true);
        goes((1_u64, 2_u64, 3_u8), false);
        goes(1_u128, align_of::<u128>() <= align_of::<usize>());
        goes([7_u64; 100], false);
    }

    #[test]
    fn each_copy_goes_once() {
        let counted = Arc::new(());
        goes((Arc::clone(&counted), 1_u8), true);
        goes((Arc::clone(&counted), [0_u64; 4]), false);
        drop(Envelope::new(TaskKind(0), Arc::clone(&counted)));
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
