//! Plots, as SVG on no ground: every colour can be read on a light page and on a dark one.

mod curves;
mod ratios;
mod style;

use std::error::Error;

pub(crate) use ratios::{Row, Title, plot as plot_ratios};

use crate::run::{Run, Scenario};
use crate::tables;

/// The plots of a group's file, each with what is added to the group's name.
pub(crate) fn of_group(group: &Run) -> Result<Vec<(String, String)>, String> {
    let said = |error: Box<dyn Error>| error.to_string();
    let Some(first) = group.results.first() else {
        return Ok(Vec::new());
    };
    let mut plots = Vec::new();
    for (curve, points) in tables::points(group, &first.group) {
        let svg = curves::plot(curve, &points, &group.machine).map_err(said)?;
        plots.push((format!("-{}", slug(curve)), svg));
    }
    let ratios = group.scenarios(&first.group);
    let ratios: Vec<_> = ratios.flat_map(Scenario::ratios).collect();
    let rows: Vec<_> = ratios.iter().map(Row::of).collect();
    if !rows.is_empty() {
        let title = Title::of(&first.group, group);
        plots.push((String::new(), ratios::plot(&title, &rows).map_err(said)?));
    }
    Ok(plots)
}

/// The name in letters that any file system takes.
fn slug(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{of_group, slug};
    use crate::run::tests::run;
    use crate::run::{Point, Run};

    #[test]
    fn a_group_has_a_plot_of_ratios_and_one_of_each_curve() {
        let mut run = run();
        let names = |run: &Run| {
            let plots: Vec<(String, String)> = of_group(run).expect("it is drawn");
            plots.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&run), [""]);
        for (workers, scenario) in (1..).zip(&mut run.results) {
            let curve = ["a tree, moved", "fib"][workers % 2].into();
            scenario.point = Some(Point { curve, workers });
        }
        assert_eq!(names(&run), ["-fib", "-a-tree-moved"]);
        run.results.clear();
        assert_eq!(names(&run), [""; 0]);
    }

    #[test]
    fn plots_have_no_ground_and_no_black() {
        let (_, svg) = of_group(&run()).expect("it is drawn").remove(0);
        assert!(svg.starts_with("<svg"));
        assert!(
            !svg.contains("#FFFFFF") && !svg.contains("#000000"),
            "{svg}"
        );
        assert!(svg.contains("1.50") && svg.contains("A Processor"), "{svg}");
    }

    #[test]
    fn a_slug_is_a_file_name() {
        assert_eq!(
            slug("16 pairs of 5 us, the lesser part"),
            "16-pairs-of-5-us-the-lesser-part"
        );
    }
}
