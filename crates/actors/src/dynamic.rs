//! A ready-made protocol without types: every value is a [`Payload`].
//!
//! The example `dynamic` of this crate has a process that speaks it.
//!
//! A payload is one box; a zero-sized value, like `()`, allocates nothing. Receivers check types.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::fmt;

use filch_scheduler::{Completion, Protocol};

/// The protocol whose types are all [`Payload`].
#[derive(Debug)]
pub enum Dynamic {}

/// The error of a process or command of the [`Dynamic`] protocol; `?` turns any error into it.
pub struct Failure(Box<dyn Error + Send>);

impl Failure {
    /// Makes a failure that says `message`.
    pub fn msg(message: impl fmt::Display) -> Self {
        Self::from(Message(message.to_string()))
    }

    /// Returns the error.
    pub fn into_error(self) -> Box<dyn Error + Send> {
        self.0
    }
}

impl<E: Error + Send + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({self})")
    }
}

/// An error that is only text.
#[derive(Debug)]
struct Message(String);

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Message {}

impl Protocol for Dynamic {
    type Input = Payload;
    type Message = Payload;
    type Command = Payload;
    type Reply = Payload;
    type Output = Payload;
    type Error = Failure;
}

/// A value of any type, in one box, that knows its type.
pub struct Payload(Box<dyn Value>);

/// A value that a payload can hold.
trait Value: Any + Send {
    /// Returns the name of the type, for people.
    fn type_name(&self) -> &'static str;
}

impl<T: Any + Send> Value for T {
    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

impl Payload {
    /// Puts `value` into a payload.
    pub fn new<T: Any + Send>(value: T) -> Self {
        Self(Box::new(value))
    }

    /// Returns the name of the value's type, for people.
    pub fn type_name(&self) -> &'static str {
        (*self.0).type_name()
    }

    /// Checks if the value is a `T`.
    pub fn is<T: Any>(&self) -> bool {
        self.value_type() == TypeId::of::<T>()
    }

    /// Borrows the value, if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }

    /// Borrows the value mutably, if it is a `T`.
    pub fn downcast_mut<T: Any>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = &mut *self.0;
        value.downcast_mut()
    }

    /// Takes the value out.
    ///
    /// # Errors
    /// [`WrongType`], with the payload, if it is not a `T`.
    pub fn downcast<T: Any>(self) -> Result<T, WrongType> {
        if !self.is::<T>() {
            let wanted = type_name::<T>();
            let payload = self;
            return Err(WrongType { wanted, payload });
        }
        let value: Box<dyn Any> = self.0;
        match value.downcast() {
            Ok(value) => Ok(*value),
            Err(_) => unreachable!("its type was asked for just now"),
        }
    }

    fn value_type(&self) -> TypeId {
        let value: &dyn Any = &*self.0;
        value.type_id()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({})", self.type_name())
    }
}

/// The error for a payload of another type than was asked for.
pub struct WrongType {
    wanted: &'static str,
    /// The payload, unchanged.
    pub payload: Payload,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let got = self.payload.type_name();
        write!(f, "wanted a `{}`, got a `{got}`", self.wanted)
    }
}

impl fmt::Debug for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WrongType({self})")
    }
}

impl Error for WrongType {}

type Doer = Box<dyn Fn(Payload, Completion<Dynamic>) + Send + Sync>;

/// A command handler made of closures, one for each type of command.
#[derive(Default)]
pub struct Commands {
    doers: HashMap<TypeId, Doer>,
}

impl Commands {
    /// Makes a handler that knows no commands.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has `doer` do the commands of type `C`.
    ///
    /// # Errors
    /// [`DuplicateCommand`], with these commands, if another closure does them already.
    pub fn on<C: Any + Send>(
        mut self,
        doer: impl Fn(C, Completion<Dynamic>) + Send + Sync + 'static,
    ) -> Result<Self, DuplicateCommand> {
        let Entry::Vacant(place) = self.doers.entry(TypeId::of::<C>()) else {
            let type_name = type_name::<C>();
            let commands = self;
            return Err(DuplicateCommand {
                type_name,
                commands,
            });
        };
        place.insert(Box::new(move |command, completion| {
            match command.downcast() {
                Ok(command) => doer(command, completion),
                Err(wrong) => completion.fail(wrong.into()),
            }
        }));
        Ok(self)
    }

    /// Makes the [handler](filch_scheduler::Builder::handler), which hands each command to its
    /// closure; without one it fails with [`UnknownCommand`].
    pub fn into_handler(self) -> impl Fn(Payload, Completion<Dynamic>) + Send + Sync {
        move |command, completion| match self.doers.get(&command.value_type()) {
            Some(doer) => doer(command, completion),
            None => {
                let type_name = command.type_name();
                completion.fail(UnknownCommand { type_name }.into());
            }
        }
    }
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands")
            .field("types", &self.doers.len())
            .finish()
    }
}

/// The error for a type of command that [`Commands`] has a closure for already.
#[derive(Debug)]
pub struct DuplicateCommand {
    type_name: &'static str,
    /// The commands as they were.
    pub commands: Commands,
}

impl fmt::Display for DuplicateCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let type_name = self.type_name;
        write!(
            f,
            "there is a handler for commands of type `{type_name}` already"
        )
    }
}

impl Error for DuplicateCommand {}

/// The error for a command whose type no closure of [`Commands`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownCommand {
    type_name: &'static str,
}

impl fmt::Display for UnknownCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no handler for commands of type `{}`", self.type_name)
    }
}

impl Error for UnknownCommand {}
