//! The types that the processes of one scheduler agree on.

use std::fmt;

/// The types that the processes, the command handler and the users of one scheduler share; never a
/// value.
///
/// ```
/// /// What a crawler's processes say to each other and to the outside.
/// enum Crawl {}
///
/// impl filch_scheduler::Protocol for Crawl {
///     type Input = String;            // where to begin
///     type Message = Vec<String>;     // links found
///     type Command = String;          // fetch this page
///     type Reply = String;            // its text
///     type Output = usize;            // pages seen
///     type Error = std::io::Error;
/// }
/// ```
pub trait Protocol: 'static {
    /// The submitter's argument to [`Process::init`](crate::Process::init).
    type Input: Send;
    /// The messages to a process, from processes and all others that know its PID.
    type Message: Send;
    /// The commands that a process yields to the command handler.
    type Command: Send;
    /// The handler's result of a command.
    type Reply: Send;
    /// The output of a process.
    type Output: Send;
    /// The error of a process, or of a command.
    type Error: fmt::Debug + fmt::Display + Send;
}

/// Implements `Error`, and `Debug` by `Display`: a protocol's types need not be printable. A
/// variant's source is part of its `Display`.
macro_rules! error_by_display {
    (
        $name:ident<$($param:ident $(: $bound:ident)?),+>
        $(, $($variant:pat => $source:expr),+ $(,)?)?
    ) => {
        impl<$($param $(: $bound)?),+> std::fmt::Debug for $name<$($param),+> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl<$($param $(: $bound)?),+> std::error::Error for $name<$($param),+> {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                $($(
                    if let $variant = self {
                        return Some($source);
                    }
                )+)?
                None
            }
        }
    };
}
pub(crate) use error_by_display;

/// `Debug` of these fields: a protocol's types need not be printable.
macro_rules! debug_fields {
    ($type:ty, $name:literal $(, $field:ident)*) => {
        impl<P: crate::Protocol> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut debug = f.debug_struct($name);
                $(debug.field(stringify!($field), &self.$field);)*
                debug.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use debug_fields;
