//! The parameters of a worker's functions: references to data, and the context.

use filch_data_cell::Access;

use crate::context::Context;
use crate::request::Request;

/// A parameter of a function that a worker calls: `&T` and `&mut T` for its data, and
/// [`Context`](crate::Context). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a worker's function",
    label = "neither data nor the context",
    note = "a parameter is `&T` or `&mut T` of data that the worker lists, or `Context<'_>`"
)]
pub trait Param: sealed::Sealed {
    /// The parameter with another lifetime.
    #[doc(hidden)]
    type Item<'call>;

    /// Returns the data that it refers to, if any.
    #[doc(hidden)]
    fn request() -> Option<Request>;

    /// # Safety
    /// If it refers to data, `data` points to that, and for `'call` no access excludes this
    /// reference.
    #[doc(hidden)]
    unsafe fn get<'call>(data: *mut (), by: Context<'call>) -> Self::Item<'call>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

impl<T: 'static> sealed::Sealed for &T {}

impl<T: 'static> Param for &T {
    type Item<'call> = &'call T;

    fn request() -> Option<Request> {
        Some(Request::of::<T>(Access::Read))
    }

    unsafe fn get<'call>(data: *mut (), _: Context<'call>) -> &'call T {
        // SAFETY: the caller's: it points to a `T` that nobody changes for so long.
        unsafe { &*data.cast() }
    }
}

impl<T: 'static> sealed::Sealed for &mut T {}

impl<T: 'static> Param for &mut T {
    type Item<'call> = &'call mut T;

    fn request() -> Option<Request> {
        Some(Request::of::<T>(Access::Write))
    }

    unsafe fn get<'call>(data: *mut (), _: Context<'call>) -> &'call mut T {
        // SAFETY: the caller's: it points to a `T` that nobody else touches for so long.
        unsafe { &mut *data.cast() }
    }
}
