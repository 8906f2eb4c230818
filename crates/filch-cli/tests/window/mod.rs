//! Simulating in a window: its contents, its end, and systems without a display.

mod display;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::common::Scratch;
use super::picture::decode;
use super::program::{figure, filch, stderr};
use display::Display;

type Picture = Vec<[u8; 3]>;

const SIZE: (u16, u16) = (1280, 720);

const GAME: [&str; 5] = ["simulate", "--seed", "7", "--boids", "300"];

/// Half an hour of them: no game ends by itself.
const FRAMES: &str = "108000";

/// A strip of this many rows is lower than the parts in which a frame reaches the display, from top
/// to bottom. A picture may be taken in between.
const STRIP: usize = 48;

/// The most seconds for a game. One that cannot be closed ends all the same.
const LIMIT: &str = "45";

/// Starts a game in a window.
fn play(display: &Display) -> Child {
    Command::new("timeout")
        .args([LIMIT, env!("CARGO_BIN_EXE_filch")])
        .args(GAME)
        .args(["--window", "--frames", FRAMES])
        .env("DISPLAY", display.name())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns a frame of the same game without a window. Before the first one, all is black.
fn frame(number: u32, folder: &Path) -> Picture {
    if number == 0 {
        return vec![[0; 3]; usize::from(SIZE.0) * usize::from(SIZE.1)];
    }
    let number = number.to_string();
    let arguments = [&GAME[..], &["out.png", "--frames", &number]].concat();
    let output = filch(&arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    decode(&folder.join("out.png")).2
}

/// Returns the display once every strip differs from this picture, so that it is of a later frame.
/// Holds the display before and after: the game is not much ahead of it.
fn next_picture(display: &Display, game: &mut Child, after: &[[u8; 3]]) -> Picture {
    let strip = STRIP * usize::from(SIZE.0);
    loop {
        let is_over = game.try_wait().unwrap().is_some();
        display.release();
        display.hold();
        let picture = display.picture();
        let mut strips = picture.chunks(strip).zip(after.chunks(strip));
        if strips.all(|(new, old)| new != old) {
            return picture;
        }
        assert!(!is_over, "the game is over, and nothing new was shown");
    }
}

/// Returns whether the picture is of the frame `new`: whole, or with a lower part that is still
/// that of the frame before.
fn is_of(picture: &[[u8; 3]], new: &[[u8; 3]], old: &[[u8; 3]]) -> bool {
    let row = usize::from(SIZE.0);
    let rows = |frame| Iterator::zip(picture.chunks(row), <[_]>::chunks(frame, row));
    let torn = rows(new).take_while(|(shown, new)| shown == new).count();
    picture != old && rows(old).skip(torn).all(|(shown, old)| shown == old)
}

#[test]
fn a_window_shows_the_frames_of_the_game_until_it_is_closed() {
    let display = Display::start(SIZE);
    display.hold();
    let mut game = play(&display);
    let scratch = Scratch::new("window");
    let earlier = next_picture(&display, &mut game, &frame(0, scratch.path()));
    let later = next_picture(&display, &mut game, &earlier);
    display.close_window();
    display.release();
    let output = game.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let frames = figure(&output, "frames ");
    let (frames, _) = frames.split_once(',').unwrap();

    // If a game ends early, its last frame may not count.
    let mut number = frames.parse::<u32>().unwrap() + 1;
    let mut new = frame(number, scratch.path());
    let mut number_of = |picture: &[[u8; 3]]| {
        while number > 0 {
            let old = frame(number - 1, scratch.path());
            if is_of(picture, &new, &old) {
                return Some(number);
            }
            (number, new) = (number - 1, old);
        }
        None
    };
    let later = number_of(&later).expect("that is no frame");
    let earlier = number_of(&earlier).expect("that is no earlier frame");
    assert!(earlier < later, "{earlier}, then {later}");
}

#[test]
fn a_window_without_a_display_is_an_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filch"));
    let output = command
        .args(["simulate", "--window"])
        .env_remove("DISPLAY")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("filch: no window: "),
        "{}",
        stderr(&output)
    );
}
