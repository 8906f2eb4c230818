//! An array on the heap that is built where it stays.

use alloc::alloc::{alloc, dealloc};
use core::alloc::{Layout, LayoutError};
use core::mem::{self, MaybeUninit};
use core::ptr::{self, NonNull};

/// The global allocator has no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

/// The beginning of an array: the number of its elements, which follow.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Head<E> {
    len: usize,
    elements: [E; 0],
}

impl<E> Head<E> {
    /// Returns a pointer to the elements. It is valid for all of them if `head` is valid for the
    /// whole allocation.
    ///
    /// # Safety
    ///
    /// `head` points to the beginning of an array's memory.
    #[inline]
    pub(crate) unsafe fn elements(head: *mut Self) -> *mut E {
        // SAFETY: within the allocation (contract). No reference is made.
        unsafe { (&raw mut (*head).elements).cast() }
    }
}

/// As `Box<[E]>`, but with a thin pointer, elements that are constructed in place, and an error if
/// there is no memory.
pub(crate) struct Array<E> {
    /// The number of constructed elements, all at the beginning.
    constructed: usize,
    memory: Memory<E>,
}

/// The memory of an array. Elements are not dropped with it.
struct Memory<E>(NonNull<Head<E>>);

impl<E> Array<E> {
    /// Allocates an array of `len` elements. `construct` writes each of them to its place.
    ///
    /// If `construct` panics, the elements constructed so far are dropped.
    ///
    /// # Safety
    ///
    /// `construct` returns only when its place is initialized.
    pub(crate) unsafe fn new(
        len: usize,
        mut construct: impl FnMut(usize, &mut MaybeUninit<E>),
    ) -> Result<Self, NoMemory> {
        let mut array = Self {
            constructed: 0,
            memory: Memory::allocate(len)?,
        };
        let elements = array.memory.elements();
        for element in 0..len {
            // SAFETY: within the memory, which is this thread's alone; nothing else refers to this
            // element. Uninitialized, it may have any bytes.
            construct(element, unsafe { &mut *elements.add(element).cast() });
            array.constructed += 1;
        }
        Ok(array)
    }

    /// Leaves the array to the caller.
    pub(crate) fn leak(self) -> NonNull<Head<E>> {
        let head = self.memory.0;
        mem::forget(self);
        head
    }

    /// Takes an array back.
    ///
    /// # Safety
    ///
    /// `head` is from [`leak`](Self::leak), and nothing else owns the array, nor refers to it.
    pub(crate) unsafe fn from_leaked(head: NonNull<Head<E>>) -> Self {
        Self {
            // SAFETY: it points to an array (contract), which has its number of elements there.
            constructed: unsafe { (*head.as_ptr()).len },
            memory: Memory(head),
        }
    }
}

impl<E> Drop for Array<E> {
    /// Drops the elements as a slice does: if a destructor panics, the others still run. The field
    /// `memory` then frees the memory.
    fn drop(&mut self) {
        let elements = ptr::slice_from_raw_parts_mut(self.memory.elements(), self.constructed);
        // SAFETY: so many are constructed; the array owns them, and they are not used again.
        unsafe { ptr::drop_in_place(elements) };
    }
}

impl<E> Memory<E> {
    fn allocate(len: usize) -> Result<Self, NoMemory> {
        let layout = Self::layout(len).map_err(|_too_large| NoMemory)?;
        // SAFETY: the size is not 0: there is a head.
        let memory = unsafe { alloc(layout) };
        let head = NonNull::new(memory.cast::<Head<E>>()).ok_or(NoMemory)?;
        // SAFETY: the memory is this thread's alone, and large and aligned enough.
        unsafe { (&raw mut (*head.as_ptr()).len).write(len) };
        Ok(Self(head))
    }

    fn layout(len: usize) -> Result<Layout, LayoutError> {
        let (layout, _) = Layout::new::<Head<E>>().extend(Layout::array::<E>(len)?)?;
        Ok(layout)
    }

    fn elements(&self) -> *mut E {
        // SAFETY: the memory of an array.
        unsafe { Head::elements(self.0.as_ptr()) }
    }
}

impl<E> Drop for Memory<E> {
    fn drop(&mut self) {
        // SAFETY: `allocate` has written it.
        let len = unsafe { (*self.0.as_ptr()).len };
        let layout = Self::layout(len).expect("it was allocated");
        // SAFETY: `allocate` got it with this layout, and it is not used again.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}
