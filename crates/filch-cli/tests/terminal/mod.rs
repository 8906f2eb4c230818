//! A terminal, and the output of programs on it.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

pub(crate) struct Terminal {
    /// The viewer's side.
    screen: File,
    /// The program's side, until one takes it.
    line: Option<File>,
}

impl Terminal {
    /// Makes a terminal with that many columns.
    pub(crate) fn new(columns: u16) -> Self {
        let screen: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let line = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&line, size).unwrap();
        Self {
            screen: screen.into(),
            line: Some(line),
        }
    }

    /// Gives the line to one program, which has it for itself.
    pub(crate) fn line(&mut self) -> Stdio {
        self.line.take().expect("there is one program").into()
    }

    /// Returns the output until it contains `this`, or the program has ended.
    pub(crate) fn until(&mut self, this: &str) -> String {
        let mut shown = Vec::new();
        let mut buffer = [0; 1024];
        // An error says that the program has ended.
        while let Ok(bytes @ 1..) = self.screen.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..bytes]);
            if String::from_utf8_lossy(&shown).contains(this) {
                break;
            }
        }
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// Returns the output until the program has ended.
    pub(crate) fn rest(&mut self) -> String {
        self.until("\0")
    }
}
