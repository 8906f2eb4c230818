//! A display without a screen, and a client of it that looks at all that is shown there.
//!
//! The few requests are written out as in the X Window System Protocol, version 11, appendix B.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// A server, which ends with this client of it.
pub(crate) struct Display {
    server: Child,
    /// What the environment calls it: `:0`, or another number.
    name: String,
    size: (u16, u16),
    client: UnixStream,
    root: u32,
}

impl Display {
    /// A black one. Its pixels have 24 bits.
    pub(crate) fn start(size: (u16, u16)) -> Self {
        let screen = format!("{}x{}x24", size.0, size.1);
        let mut server = Command::new("Xvfb")
            .args(["-screen", "0", &screen, "-displayfd", "1", "-terminate"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Xvfb is installed");
        // It chooses a number that is free, and says it as soon as clients may come.
        let mut number = String::new();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        said.read_line(&mut number).unwrap();
        let number = number.trim();
        let mut client = UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).unwrap();
        let root = set_up(&mut client);
        Self {
            server,
            name: format!(":{number}"),
            size,
            client,
            root,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Red, green and blue of each pixel, row by row, as they are at one moment.
    pub(crate) fn picture(&mut self) -> Vec<[u8; 3]> {
        const GET_IMAGE: u8 = 73;
        const Z_PIXMAP: u8 = 2;
        let size = u32::from(self.size.1) << 16 | u32::from(self.size.0);
        self.send(GET_IMAGE, Z_PIXMAP, &[self.root, 0, size, u32::MAX]);
        let (_, image) = self.reply();
        let (pixels, _) = image.as_chunks();
        let rgb = |&[blue, green, red, _]: &[u8; 4]| [red, green, blue];
        pixels.iter().map(rgb).collect()
    }

    /// What a window manager sends to the window in front when its user closes it.
    pub(crate) fn close_window(&mut self) {
        const SEND_EVENT: u8 = 25;
        // 32 bits a word.
        const CLIENT_MESSAGE: u32 = 33 | 32 << 8;
        let window = self.window_in_front();
        let [protocols, delete] = ["WM_PROTOCOLS", "WM_DELETE_WINDOW"].map(|name| self.atom(name));
        let event = [CLIENT_MESSAGE, window, protocols, delete, 0, 0, 0, 0];
        self.send(SEND_EVENT, 0, &[&[window, 0][..], &event].concat());
    }

    fn window_in_front(&mut self) -> u32 {
        const QUERY_TREE: u8 = 15;
        self.send(QUERY_TREE, 0, &[self.root]);
        let (_, windows) = self.reply();
        word(windows.last_chunk().expect("there is a window"))
    }

    fn atom(&mut self, name: &str) -> u32 {
        const INTERN_ATOM: u8 = 16;
        let mut padded = name.as_bytes().to_vec();
        padded.resize(name.len().next_multiple_of(4), 0);
        let (words, _) = padded.as_chunks();
        let length = [u32::try_from(name.len()).unwrap()];
        let body: Vec<_> = length.into_iter().chain(words.iter().map(word)).collect();
        self.send(INTERN_ATOM, 0, &body);
        word(self.reply().0[8..].first_chunk().unwrap())
    }

    fn send(&mut self, request: u8, detail: u8, body: &[u32]) {
        let [low, high] = u16::try_from(1 + body.len()).unwrap().to_le_bytes();
        let mut bytes = vec![request, detail, low, high];
        bytes.extend(body.iter().flat_map(|word| word.to_le_bytes()));
        self.client.write_all(&bytes).unwrap();
    }

    /// The answer's head, and the rest of it.
    fn reply(&mut self) -> ([u8; 32], Vec<u8>) {
        const REPLY: u8 = 1;
        let mut head = [0; 32];
        self.client.read_exact(&mut head).unwrap();
        assert_eq!(head[0], REPLY, "{head:?}");
        let length = word(head[4..].first_chunk().unwrap());
        (head, read(&mut self.client, length))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // The server ends with its last client, and removes its socket and its lock.
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.wait();
    }
}

/// Says in which order the bytes of a number come, and reads what there is: the first screen's
/// root.
fn set_up(client: &mut UnixStream) -> u32 {
    const LITTLE_ENDIAN: u8 = b'l';
    const VERSION: u8 = 11;
    const ACCEPTED: u8 = 1;
    client
        .write_all(&[LITTLE_ENDIAN, 0, VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        .unwrap();
    let mut head = [0; 8];
    client.read_exact(&mut head).unwrap();
    let length = u16::from_le_bytes([head[6], head[7]]);
    let rest = read(client, length.into());
    assert_eq!(head[0], ACCEPTED, "{}", String::from_utf8_lossy(&rest));
    let vendor = usize::from(u16::from_le_bytes([rest[16], rest[17]]));
    let formats = usize::from(rest[21]);
    let screens = 32 + vendor.next_multiple_of(4) + 8 * formats;
    word(rest[screens..].first_chunk().unwrap())
}

/// So many words.
fn read(client: &mut UnixStream, words: u32) -> Vec<u8> {
    let mut bytes = vec![0; 4 * words as usize];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

fn word(bytes: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*bytes)
}
