//! State that actions would inherit from the worker's own parent.

use rustix::fs::Mode;
use rustix::process::umask;

/// Keeps actions from inheriting what this process inherited itself: open files, and the mask of
/// permissions. A program that runs actions calls it first.
pub fn keep_from_actions() {
    close_fds::set_fds_cloexec(3, &[]);
    // So that everyone may read what actions make.
    umask(Mode::WGRP | Mode::WOTH);
}
