//! The ring of slots: all access to memory that producers and the consumer share, except the words
//! in the queue.

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;
use core::ptr;

use filch_sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use filch_sync::cell::UnsafeCell;

/// One place for an event. Who may touch what, and when:
///
/// | field | whose |
/// |---|---|
/// | `value`, `mark` | the producer's from its claim to its store of `mark`; then the consumer's, until it releases the place by moving the head behind it |
/// | `taken` | the consumer's always |
pub(crate) struct Slot<T> {
    /// Full, if it is the lap's [full mark](crate::bounded::position::Laps::full_mark). Written by
    /// producers only.
    mark: AtomicBool,
    /// Emptied before its turn, behind a slot that is not filled yet.
    taken: UnsafeCell<bool>,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Slot<T> {
    fn new(mark: bool) -> Self {
        Self {
            mark: AtomicBool::new(mark),
            taken: UnsafeCell::new(false),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Writes `value`, and hands the slot to the consumer.
    ///
    /// # Safety
    /// The caller claimed the slot's place in a lap whose full mark is `mark`, has not filled it,
    /// and acquired the release of the place one lap before.
    pub(crate) unsafe fn fill(&self, mark: bool, value: T) {
        // SAFETY: claimed by this thread alone, until the store below; what the consumer read from
        // it in the lap before happens before (contract).
        self.value.with_mut(|cell| unsafe { (*cell).write(value) });
        // ORDERING: Release, with the Acquire load in `is_full`: the value is written before the
        // mark is seen.
        self.mark.store(mark, Ordering::Release);
    }

    /// Whether the slot was filled in the lap whose full mark is `mark`.
    ///
    /// For the consumer, and for a claimed place: else the answer may be about another lap.
    pub(crate) fn is_full(&self, mark: bool) -> bool {
        // ORDERING: Acquire, with the Release store in `fill`: else the value might not be written
        // yet.
        self.mark.load(Ordering::Acquire) == mark
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// The caller is the consumer, it found the slot full in this lap, and has not emptied it.
    pub(crate) unsafe fn empty(&self) -> T {
        // SAFETY: full, so initialised and no longer the producer's; not emptied, so still there.
        self.value
            .with(|cell| unsafe { (*cell).assume_init_read() })
    }

    /// Whether the consumer emptied the slot before its turn, in this lap.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn is_taken(&self) -> bool {
        // SAFETY: only the consumer, which is the caller, touches this field.
        self.taken.with(|taken| unsafe { *taken })
    }

    /// Notes that the consumer emptied the slot before its turn, or that its turn has come.
    ///
    /// # Safety
    /// The caller is the consumer.
    pub(crate) unsafe fn set_taken(&self, value: bool) {
        // SAFETY: only the consumer, which is the caller, touches this field.
        self.taken.with_mut(|taken| unsafe { *taken = value });
    }
}

/// The slots, once there are any: the first push allocates them.
pub(crate) struct Ring<T> {
    /// The first of `capacity` slots, or null.
    first: AtomicPtr<Slot<T>>,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            first: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The first slot, for a producer. `mark` is the mark of slots that nobody has filled.
    pub(crate) fn get_or_allocate(&self, capacity: NonZeroU32, mark: bool) -> *const Slot<T> {
        // ORDERING: Acquire, with the Release in `allocate`: the slots are initialised.
        let first = self.first.load(Ordering::Acquire);
        if first.is_null() {
            return self.allocate(capacity, mark);
        }
        first
    }

    #[cold]
    fn allocate(&self, capacity: NonZeroU32, mark: bool) -> *const Slot<T> {
        let slots: Box<[Slot<T>]> = (0..capacity.get()).map(|_| Slot::new(mark)).collect();
        let slots = Box::into_raw(slots);
        let first = slots.cast::<Slot<T>>();
        // ORDERING: success Release, with the Acquire here and in `get_or_allocate`: the slots are
        // initialised before another producer uses them. Failure Acquire: that other one is us.
        match self.first.compare_exchange(
            ptr::null_mut(),
            first,
            Ordering::Release,
            Ordering::Acquire,
        ) {
            Ok(_) => first,
            Err(theirs) => {
                // SAFETY: from `into_raw` above, and never published.
                drop(unsafe { Box::from_raw(slots) });
                theirs
            }
        }
    }

    /// The first slot, for the consumer; null, if there is none yet.
    pub(crate) fn get(&self) -> *const Slot<T> {
        // ORDERING: Acquire, with the Release in `allocate`: the slots are initialised. A claim
        // that the consumer acquired says as much, but it also looks at the oldest slot without
        // one.
        self.first.load(Ordering::Acquire)
    }

    /// Frees the slots, if there are any. Values that are still in them are not dropped.
    ///
    /// # Safety
    /// The caller has exclusive access to the ring, and `capacity` is what it was allocated with.
    pub(crate) unsafe fn free(&mut self, capacity: NonZeroU32) {
        // ORDERING: Relaxed: exclusive access.
        let first = self.first.load(Ordering::Relaxed);
        if !first.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(first, capacity.get() as usize);
            // SAFETY: from `Box::into_raw` in `allocate`, with this length; nobody else has it.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}
