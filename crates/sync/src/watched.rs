//! The locks of a build for ThreadSanitizer, which tell it what they order.
//!
//! The standard library is compiled without the sanitizer, and so is the part of its lock in which
//! threads wait for each other: what two threads do under one lock would look like a race.
#![expect(unsafe_code, reason = "the sanitizer's own functions")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self, LockResult, PoisonError, WaitTimeoutResult};
use std::time::Duration;

unsafe extern "C" {
    /// Orders what was [released](__tsan_release) with this address before what follows.
    fn __tsan_acquire(address: *const ());
    fn __tsan_release(address: *const ());
}

/// See [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

/// See [`std::sync::MutexGuard`]. Empty only while it is dropped, or has gone into a wait.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    guard: Option<sync::MutexGuard<'a, T>>,
}

/// See [`std::sync::Condvar`].
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

fn map<T, R>(result: LockResult<T>, map: impl FnOnce(T) -> R) -> LockResult<R> {
    match result {
        Ok(guard) => Ok(map(guard)),
        Err(error) => Err(PoisonError::new(map(error.into_inner()))),
    }
}

impl<T> Mutex<T> {
    /// See [`std::sync::Mutex::new`].
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// See [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    /// As there.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// See [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// As there.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        map(self.0.lock(), |guard| self.locked(guard))
    }

    /// See [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    /// As there.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }

    fn address(&self) -> *const () {
        (&raw const self.0).cast()
    }

    fn locked<'a>(&'a self, guard: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        // SAFETY: the sanitizer takes any address.
        unsafe { __tsan_acquire(self.address()) };
        MutexGuard {
            mutex: self,
            guard: Some(guard),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The thread is about to unlock.
    fn take(&mut self) -> Option<sync::MutexGuard<'a, T>> {
        // SAFETY: as in `locked`.
        unsafe { __tsan_release(self.mutex.address()) };
        self.guard.take()
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().unwrap_or_else(|| unreachable!())
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().unwrap_or_else(|| unreachable!())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Condvar {
    /// See [`std::sync::Condvar::new`].
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// See [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// As there.
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.mutex;
        let inner = guard.take().unwrap_or_else(|| unreachable!());
        map(self.0.wait(inner), |inner| mutex.locked(inner))
    }

    /// See [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// As there.
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mutex = guard.mutex;
        let inner = guard.take().unwrap_or_else(|| unreachable!());
        let woken = self.0.wait_timeout(inner, timeout);
        map(woken, |(inner, result)| (mutex.locked(inner), result))
    }

    /// See [`std::sync::Condvar::notify_one`].
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// See [`std::sync::Condvar::notify_all`].
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
