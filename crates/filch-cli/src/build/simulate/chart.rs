//! Curves in a frame, as SVG.

use std::fmt;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 480.0;

/// Where the frame is: left, top, right and bottom.
const FRAME: [f64; 4] = [78.0, 44.0, 770.0, 420.0];

/// The height of a line of the legend.
const LINE: f64 = 20.0;

/// A picture of some curves.
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// The first one is drawn last, above the others.
    pub(super) curves: Vec<Curve>,
    pub(super) legend: Corner,
}

pub(super) struct Curve {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) width: u32,
    pub(super) points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    pub(super) is_marked: bool,
}

/// Where the legend stands in the frame.
pub(super) enum Corner {
    UpperLeft,
    UpperRight,
    LowerRight,
}

/// What an axis shows, and from where to where.
pub(super) struct Axis {
    name: &'static str,
    ends: [f64; 2],
    is_logarithmic: bool,
}

impl Axis {
    pub(super) fn linear(name: &'static str, first: f64, last: f64) -> Self {
        Self {
            name,
            // What has no length would have no place.
            ends: [first, last.max(first + 1e-9)],
            is_logarithmic: false,
        }
    }

    pub(super) fn logarithmic(name: &'static str, first: f64, last: f64) -> Self {
        Self {
            is_logarithmic: true,
            ..Self::linear(name, first, last)
        }
    }

    /// Where a value is between the ends, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let of = |value: f64| match self.is_logarithmic {
            true => value.max(self.ends[0]).ln(),
            false => value,
        };
        let [first, last] = self.ends.map(of);
        ((of(value) - first) / (last - first)).clamp(0.0, 1.0)
    }

    /// Powers of ten; or five to ten multiples of one, two or five times such a power.
    fn ticks(&self) -> Vec<f64> {
        let [first, last] = self.ends;
        if self.is_logarithmic {
            let powers = first.log10().ceil() as i32..=last.log10().floor() as i32;
            return powers.map(|power| 10_f64.powi(power)).collect();
        }
        let power = 10_f64.powf(((last - first) / 5.0).log10().floor());
        let steps = [5.0, 2.0, 1.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| (last - first) / step >= 5.0);
        let step = step.unwrap_or(power);
        let numbers = (first / step).ceil() as i64..=(last / step).floor() as i64;
        numbers.map(|number| number as f64 * step).collect()
    }
}

impl Chart {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [left, top, right, bottom] = FRAME;
        let x = left + self.x.part(x) * (right - left);
        (x, bottom - self.y.part(y) * (bottom - top))
    }

    fn axes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, top, right, bottom] = FRAME;
        // Sums of a step, as 0.1, are rarely what they look like.
        let label = |value: f64| (value * 1e4).round() / 1e4;
        for tick in self.x.ticks() {
            let (x, _) = self.place((tick, 0.0));
            writeln!(f, "<path stroke='#ddd' d='M{x:.1} {top}V{bottom}'/>")?;
            let y = bottom + 18.0;
            let label = label(tick);
            writeln!(
                f,
                "<text x='{x:.1}' y='{y}' text-anchor='middle'>{label}</text>"
            )?;
        }
        for tick in self.y.ticks() {
            let (_, y) = self.place((self.x.ends[0], tick));
            writeln!(f, "<path stroke='#ddd' d='M{left} {y:.1}H{right}'/>")?;
            let (x, y, label) = (left - 8.0, y + 5.0, label(tick));
            writeln!(
                f,
                "<text x='{x}' y='{y:.1}' text-anchor='end'>{label}</text>"
            )?;
        }
        writeln!(
            f,
            "<path fill='none' stroke='#000' d='M{left} {top}V{bottom}H{right}'/>"
        )?;
        let middle = f64::midpoint(left, right);
        let name = self.x.name;
        writeln!(
            f,
            "<text x='{middle}' y='462' text-anchor='middle' font-size='16'>{name}</text>"
        )?;
        let middle = f64::midpoint(top, bottom);
        let name = self.y.name;
        let turned = format!("transform='rotate(-90 20 {middle})'");
        writeln!(
            f,
            "<text x='20' y='{middle}' {turned} text-anchor='middle' font-size='16'>"
        )?;
        writeln!(f, "{name}</text>")
    }

    fn curve(&self, curve: &Curve, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Curve { colour, width, .. } = curve;
        write!(
            f,
            "<polyline fill='none' stroke='{colour}' stroke-width='{width}' points='"
        )?;
        for &point in &curve.points {
            let (x, y) = self.place(point);
            write!(f, "{x:.1},{y:.1} ")?;
        }
        writeln!(f, "'/>")?;
        for &point in curve.points.iter().filter(|_| curve.is_marked) {
            let (x, y) = self.place(point);
            writeln!(f, "<circle fill='{colour}' cx='{x:.1}' cy='{y:.1}' r='3'/>")?;
        }
        Ok(())
    }

    fn legend(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, top, right, bottom] = FRAME;
        let (width, height) = (140.0, LINE * self.curves.len() as f64 + 8.0);
        let x = match self.legend {
            Corner::UpperLeft => left + 12.0,
            Corner::UpperRight | Corner::LowerRight => right - 12.0 - width,
        };
        let y = match self.legend {
            Corner::UpperLeft | Corner::UpperRight => top + 12.0,
            Corner::LowerRight => bottom - 12.0 - height,
        };
        let box_of = format!("x='{x}' y='{y}' width='{width}' height='{height}'");
        writeln!(f, "<rect {box_of} fill='#fff' stroke='#999'/>")?;
        for (number, curve) in (1..).zip(&self.curves) {
            let y = y + LINE * f64::from(number) - 6.0;
            let (from, text) = (x + 8.0, x + 40.0);
            let Curve {
                colour,
                width,
                name,
                ..
            } = curve;
            let line = format!("stroke='{colour}' stroke-width='{width}'");
            writeln!(f, "<path {line} d='M{from} {y}h24'/>")?;
            writeln!(f, "<text x='{text}' y='{}'>{name}</text>", y + 5.0)?;
        }
        Ok(())
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = format!("width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'");
        writeln!(f, "<svg {size} xmlns='http://www.w3.org/2000/svg'>")?;
        writeln!(f, "<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>")?;
        writeln!(f, "<g font-family='sans-serif' font-size='14'>")?;
        let middle = WIDTH / 2.0;
        let title = self.title;
        writeln!(
            f,
            "<text x='{middle}' y='26' text-anchor='middle' font-size='20'>{title}</text>"
        )?;
        self.axes(f)?;
        for curve in self.curves.iter().rev() {
            self.curve(curve, f)?;
        }
        self.legend(f)?;
        writeln!(f, "</g>\n</svg>")
    }
}
