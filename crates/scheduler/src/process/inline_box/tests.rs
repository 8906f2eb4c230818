//! Values in place and in a box, and their destructors.

use std::sync::Arc;

use super::{InlineBox, NewProcess};
use crate::tests::Any;
use crate::{Process, from_fn};

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

impl<T: Check + ?Sized> Check for Box<T> {
    fn check(&mut self) {
        (**self).check();
    }
}

fn inline<V: Check + 'static>(value: V) -> InlineBox<dyn Check> {
    // SAFETY: the address stays as it is.
    unsafe { InlineBox::new(value, |room| room.cast::<V>()) }
}

fn lives_and_is_dropped_once<A: Send + 'static, const SIZE: usize>() {
    let alive = Arc::new(());
    let sample = || Sample::<A, SIZE> {
        bytes: [7; SIZE],
        _aligned: [],
        _alive: Arc::clone(&alive),
    };
    let mut values = vec![inline(Box::new(sample()))];
    if InlineBox::<dyn Check>::fits::<Sample<A, SIZE>>() {
        values.push(inline(sample()));
        assert_eq!(size_of_val(&*values[1]), size_of::<Sample<A, SIZE>>());
    }
    // They move.
    values.reserve(100);
    values.iter_mut().for_each(|value| value.check());
    assert_eq!(Arc::strong_count(&alive), 1 + values.len());
    let boxed = values.swap_remove(0);
    // SAFETY: that is what is in there.
    drop(unsafe { boxed.take::<Box<Sample<A, SIZE>>>() });
    assert_eq!(Arc::strong_count(&alive), 1 + values.len());
    drop(values);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// A failure: a value is taken for one of another type, or dropped twice, or never.
#[test]
fn any_value_comes_out_as_what_it_was() {
    let alive = Arc::new(());
    for large in [false, true] {
        let value: InlineBox<_, 2> = if large {
            InlineBox::any((Arc::clone(&alive), [7_u64; 9]))
        } else {
            InlineBox::any((Arc::clone(&alive), 7_u8))
        };
        let value = value.downcast::<Arc<()>>().expect_err("it is another type");
        let taken = match large {
            false => value.downcast::<(Arc<()>, u8)>().map(|value| value.0),
            true => value.downcast::<(Arc<()>, [u64; 9])>().map(|value| value.0),
        };
        assert!(Arc::ptr_eq(&taken.expect("that is its type"), &alive));
        assert_eq!(Arc::strong_count(&alive), 1);
    }
    drop(InlineBox::<_, 2>::any(Arc::clone(&alive)));
    assert_eq!(Arc::strong_count(&alive), 1);
    let boxed = InlineBox::<_, 2>::any(Box::new([7_u64; 9]));
    let boxed = boxed.downcast::<[u64; 9]>().expect_err("it is a box");
    assert!(boxed.downcast::<Box<[u64; 9]>>().is_ok());
}

/// It lies in place or in a box until then, and a box of the caller's is not put into another one.
#[test]
fn a_process_that_gets_no_place_is_handed_back_in_a_box() {
    fn comes_back<const SIZE: usize>() {
        let alive = Arc::new(());
        let process = || {
            let sample = (Arc::clone(&alive), [7; SIZE]);
            from_fn::<Any, _>(move |_, _, _| Err(format!("{sample:?}")))
        };
        let size = size_of_val(&process());
        let boxed = Box::new(process()) as Box<dyn Process<Any>>;
        for new in [NewProcess::new(process()), NewProcess::new(boxed)] {
            assert_eq!(size_of_val(&*new.into_box()), size);
        }
        assert_eq!(Arc::strong_count(&alive), 1);
    }
    comes_back::<1>();
    comes_back::<1000>();
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
