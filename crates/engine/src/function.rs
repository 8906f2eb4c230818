//! Functions by their parameters, references to data and the context, which determine the locked
//! data.

use filch_data_cell::Access;

use crate::context::Context;
use crate::data::Request;

/// A function that takes data: `fn(&World, &mut Input) -> R`, with at most eight parameters, and a
/// [`Context`](crate::Context) anywhere among them. Implemented for functions and closures; sealed
/// by its parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function that a worker can call",
    label = "not a function of a worker's data",
    note = "it takes up to eight references to data that the worker lists, or a `Context`; a \
            closure names their types: `|world: &mut World, input: &Input|`"
)]
pub trait Function<Params, R>: Sized {
    /// Returns the data of each parameter.
    #[doc(hidden)]
    fn requests() -> Vec<Option<Request>>;

    /// # Safety
    /// `data` has a pointer for each parameter, fit for [`Param::get`].
    #[doc(hidden)]
    unsafe fn call(self, data: &[*mut ()], by: Context<'_>) -> R;
}

/// A function that runs tasks of type `T`: `fn(&T, &mut World)`, and otherwise as a [`Function`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function that runs tasks",
    label = "not a function of a task and a worker's data",
    note = "it takes the task, and up to eight references to data that the worker lists, or a \
            `Context`; a closure names their types: `|step: &Step, world: &mut World|`"
)]
pub trait Handler<T, Params>: Send + 'static {
    /// Returns the data of each parameter behind the task.
    #[doc(hidden)]
    fn requests() -> Vec<Option<Request>>;

    /// # Safety
    /// `data` has a pointer for each parameter, fit for [`Param::get`].
    #[doc(hidden)]
    unsafe fn call(&self, task: &T, data: &[*mut ()], by: Context<'_>);
}

/// Implements the traits. A helper calls the function, so that it is known to take the parameters'
/// own types with any lifetimes, not only those of its declaration.
macro_rules! functions {
    ($($param:ident $value:ident $number:tt),*) => {
        impl<F, R, $($param: Param),*> Function<fn($($param),*), R> for F
        where
            F: FnOnce($($param),*) -> R + FnOnce($($param::Item<'_>),*) -> R,
        {
            fn requests() -> Vec<Option<Request>> {
                vec![$($param::request()),*]
            }

            unsafe fn call(self, data: &[*mut ()], by: Context<'_>) -> R {
                fn call<R, $($param),*>(
                    function: impl FnOnce($($param),*) -> R,
                    ($($value,)*): ($($param,)*),
                ) -> R {
                    function($($value),*)
                }
                let _ = (data, by);
                // SAFETY: the caller's, for each parameter.
                $(let $value = unsafe { $param::get(data[$number], by) };)*
                call(self, ($($value,)*))
            }
        }

        impl<F, T: 'static, $($param: Param),*> Handler<T, fn($($param),*)> for F
        where
            F: Send + 'static,
            F: Fn(&T, $($param),*) + Fn(&T, $($param::Item<'_>),*),
        {
            fn requests() -> Vec<Option<Request>> {
                vec![$($param::request()),*]
            }

            unsafe fn call(&self, task: &T, data: &[*mut ()], by: Context<'_>) {
                fn call<T, $($param),*>(
                    function: impl Fn(&T, $($param),*),
                    task: &T,
                    ($($value,)*): ($($param,)*),
                ) {
                    function(task, $($value),*);
                }
                let _ = (data, by);
                // SAFETY: the caller's, for each parameter.
                $(let $value = unsafe { $param::get(data[$number], by) };)*
                call(self, task, ($($value,)*));
            }
        }
    };
}

functions!();
functions!(P0 p0 0);
functions!(P0 p0 0, P1 p1 1);
functions!(P0 p0 0, P1 p1 1, P2 p2 2);
functions!(P0 p0 0, P1 p1 1, P2 p2 2, P3 p3 3);
functions!(P0 p0 0, P1 p1 1, P2 p2 2, P3 p3 3, P4 p4 4);
functions!(P0 p0 0, P1 p1 1, P2 p2 2, P3 p3 3, P4 p4 4, P5 p5 5);
functions!(P0 p0 0, P1 p1 1, P2 p2 2, P3 p3 3, P4 p4 4, P5 p5 5, P6 p6 6);
functions!(P0 p0 0, P1 p1 1, P2 p2 2, P3 p3 3, P4 p4 4, P5 p5 5, P6 p6 6, P7 p7 7);

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
