//! Colours and fonts.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// For text and axes: as far from white as from black.
pub(super) const GREY: RGBColor = RGBColor(125, 133, 144);

/// Ours, and what is won.
pub(super) const BLUE: RGBColor = RGBColor(47, 129, 220);

/// What is lost.
pub(super) const ORANGE: RGBColor = RGBColor(219, 109, 40);

/// The other forms of ours.
pub(super) const BLUES: [RGBColor; 3] = [BLUE, RGBColor(104, 110, 224), RGBColor(38, 160, 190)];

/// Of others, in turn: of Okabe and Ito, which the colour-blind can tell apart, without those that
/// are too light or too dark for either ground.
pub(super) const OTHERS: [RGBColor; 5] = [
    ORANGE,
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(166, 138, 32),
    GREY,
];

const FONT: &str = "sans-serif";

/// Text of that size, whose anchor is at its left, its middle or its right.
pub(super) fn text(size: i32, anchor: HPos) -> TextStyle<'static> {
    let style = TextStyle::from((FONT, size).into_font()).color(&GREY);
    style.pos(Pos::new(anchor, VPos::Center))
}
