//! A ready-made vocabulary without types: everything is a [`Payload`].
//!
//! The example `dynamic` of this crate has a process that speaks it.
//!
//! A payload is one box; of a type without a size, like `()`, it allocates nothing. Its type is
//! checked at the other end.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::fmt;

use filch_scheduler::{CommandHandler, Completion, Protocol};

/// The protocol whose every word is a [`Payload`].
#[derive(Debug)]
pub enum Dynamic {}

/// How a process or command of the [`Dynamic`] protocol fails: any error, which `?` turns into one
/// of these.
pub struct Failure(Box<dyn Error + Send>);

impl Failure {
    /// A failure that says `message`.
    pub fn msg(message: impl fmt::Display) -> Self {
        Self::from(Message(message.to_string()))
    }

    /// The error.
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

/// An error that is nothing but text.
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

/// A value of any type, in one box, that remembers which.
pub struct Payload(Box<dyn Value>);

/// What can be in a payload.
trait Value: Any + Send {
    /// For people.
    fn type_name(&self) -> &'static str;
}

impl<T: Any + Send> Value for T {
    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

impl Payload {
    /// A payload of that value.
    pub fn new<T: Any + Send>(value: T) -> Self {
        Self(Box::new(value))
    }

    /// The name of the value's type, for people.
    pub fn type_name(&self) -> &'static str {
        (*self.0).type_name()
    }

    /// Whether the value is a `T`.
    pub fn is<T: Any>(&self) -> bool {
        self.value_type() == TypeId::of::<T>()
    }

    /// The value, if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }

    /// The value, if it is a `T`, to change.
    pub fn downcast_mut<T: Any>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = &mut *self.0;
        value.downcast_mut()
    }

    /// The value.
    ///
    /// # Errors
    /// [`WrongType`], with the payload, if it is no `T`.
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

/// A payload is not of the type that was asked for.
pub struct WrongType {
    wanted: &'static str,
    /// What it is instead.
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
    /// No commands yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `doer` does the commands of type `C`.
    ///
    /// # Errors
    /// [`DuplicateCommand`], with these commands, if another one does them already.
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
}

impl CommandHandler<Dynamic> for Commands {
    /// A command that nobody does fails with [`UnknownCommand`].
    fn handle(&self, command: Payload, completion: Completion<Dynamic>) {
        match self.doers.get(&command.value_type()) {
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

/// A closure of [`Commands`] does commands of that type already.
#[derive(Debug)]
pub struct DuplicateCommand {
    type_name: &'static str,
    /// As they were.
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

/// No closure of [`Commands`] does commands of that type.
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
