//! A display without a screen, with a client of it that looks at the whole display.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask, ImageFormat, Window};
use x11rb::rust_connection::RustConnection;

/// A server, which ends with this client of it.
pub(crate) struct Display {
    server: Child,
    /// Its name in the environment: `:0`, or another number.
    name: String,
    size: (u16, u16),
    /// Taken by the drop.
    client: Option<RustConnection>,
    root: Window,
}

impl Display {
    /// Starts a black one. Its pixels have 24 bits.
    pub(crate) fn start(size: (u16, u16)) -> Self {
        let screen = format!("{}x{}x24", size.0, size.1);
        let mut server = Command::new("Xvfb")
            .args(["-screen", "0", &screen, "-displayfd", "1", "-terminate"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Xvfb is installed");
        // It chooses a free number, and prints it as soon as clients may come.
        let mut number = String::new();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        said.read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let (client, screen) = x11rb::connect(Some(&name)).unwrap();
        let root = client.setup().roots[screen].root;
        Self {
            server,
            name,
            size,
            client: Some(client),
            root,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn client(&self) -> &RustConnection {
        self.client.as_ref().expect("this is not dropped yet")
    }

    /// Makes the requests of all other clients wait.
    pub(crate) fn hold(&self) {
        self.client().grab_server().unwrap().check().unwrap();
    }

    /// Lets them go on.
    pub(crate) fn release(&self) {
        self.client().ungrab_server().unwrap().check().unwrap();
    }

    /// Returns red, green and blue of each pixel, row by row, as they are at one moment.
    pub(crate) fn picture(&self) -> Vec<[u8; 3]> {
        let (format, all) = (ImageFormat::Z_PIXMAP, u32::MAX);
        let (width, height) = self.size;
        let image = self
            .client()
            .get_image(format, self.root, 0, 0, width, height, all);
        let image = image.unwrap().reply().unwrap().data;
        let (pixels, _) = image.as_chunks();
        let rgb = |&[blue, green, red, _]: &[u8; 4]| [red, green, blue];
        pixels.iter().map(rgb).collect()
    }

    /// Sends the front window the message of a window manager whose user closes it.
    pub(crate) fn close_window(&self) {
        let windows = self
            .client()
            .query_tree(self.root)
            .unwrap()
            .reply()
            .unwrap();
        let window = *windows.children.last().expect("there is a window");
        let [protocols, delete] = ["WM_PROTOCOLS", "WM_DELETE_WINDOW"].map(|name| {
            let atom = self.client().intern_atom(false, name.as_bytes());
            atom.unwrap().reply().unwrap().atom
        });
        let event = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        let sent = self
            .client()
            .send_event(false, window, EventMask::NO_EVENT, event);
        sent.unwrap().check().unwrap();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.client = None;
        // It ends with its last client, and removes its socket and its lock.
        let _ = self.server.wait();
    }
}
