//! Simulating in a window: what it shows, when it ends, and where there can be none.

mod display;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::common::Scratch;
use super::picture::decode;
use super::program::{figure, filch, stderr};
use display::Display;

/// Far more than are looked at. A window that cannot be closed ends all the same.
const FRAMES: u32 = 300;

const GAME: [&str; 5] = ["simulate", "--seed", "7", "--boids", "300"];

/// A game in a window.
fn play(display: &Display) -> Child {
    let frames = FRAMES.to_string();
    Command::new(env!("CARGO_BIN_EXE_filch"))
        .args(GAME)
        .args(["--window", "--frames", &frames])
        .env("DISPLAY", display.name())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A frame of the same game, which had no window.
fn frame(number: u32, folder: &Path) -> Vec<[u8; 3]> {
    let number = number.to_string();
    let arguments = [&GAME[..], &["out.png", "--frames", &number]].concat();
    let output = filch(&arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    decode(&folder.join("out.png")).2
}

/// What is shown once that is neither nothing nor this picture.
fn next_picture(display: &Display, game: &mut Child, after: &[[u8; 3]]) -> Vec<[u8; 3]> {
    loop {
        let is_over = game.try_wait().unwrap().is_some();
        let picture = display.picture();
        if picture != after && picture.iter().any(|pixel| *pixel != [0; 3]) {
            return picture;
        }
        assert!(!is_over, "the game is over, and nothing new was shown");
    }
}

#[test]
fn a_window_shows_the_frames_of_the_game_until_it_is_closed() {
    let display = Display::start((1280, 720));
    let mut game = play(&display);
    let earlier = next_picture(&display, &mut game, &[]);
    let later = next_picture(&display, &mut game, &earlier);
    display.close_window();
    let output = game.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let frames = figure(&output, "frames ");
    let (frames, _) = frames.split_once(',').unwrap();
    let frames: u32 = frames.parse().unwrap();
    assert!(frames < FRAMES, "closed, it played on");

    let scratch = Scratch::new("window");
    // Of a game that ends early, the last frame may not be accounted for.
    let mut frames = (1..=frames + 1)
        .rev()
        .map(|number| frame(number, scratch.path()));
    assert!(frames.any(|frame| frame == later), "that is no frame");
    assert!(frames.any(|frame| frame == earlier), "not in this order");
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
