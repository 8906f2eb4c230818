//! What the actions of a worker would inherit from whoever started it.

use rustix::fs::Mode;
use rustix::process::umask;

/// Keeps from all actions of this process what it has inherited itself: open files, and which
/// permissions new files lack. A program that runs actions calls it when it begins.
pub fn keep_from_actions() {
    close_fds::set_fds_cloexec(3, &[]);
    // Everyone may read what actions make.
    umask(Mode::WGRP | Mode::WOTH);
}
