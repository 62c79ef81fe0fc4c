//! A figure, the bound it should keep, and a table of such.

use std::fmt;

/// What was measured, and what it is held against.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// What was measured.
    pub ours: f64,
    /// The same work without Majordomo; then the figure is the ratio.
    pub beside: Option<f64>,
    /// The unit of both.
    pub unit: &'static str,
    /// The most that the figure may be; infinite where there is no bound.
    pub most: f64,
    /// What it should be; infinite where nothing is aimed at.
    pub aim: f64,
}

impl Figure {
    /// The number that is held against the bound.
    pub fn judged(&self) -> f64 {
        self.beside.map_or(self.ours, |beside| self.ours / beside)
    }

    fn verdict(&self) -> &'static str {
        let judged = self.judged();
        if self.most.is_infinite() {
            "no limit"
        } else if judged <= self.aim {
            "goal met"
        } else if judged <= self.most {
            "within limit"
        } else {
            "**missed**"
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, ours, beside, unit, most, aim } = self;
        let beside = beside.map_or_else(|| "–".to_owned(), |beside| format!("{} {unit}", short(beside)));
        let judged = short(self.judged());
        let (most, aim) = (short(*most), short(*aim));
        write!(f, "| {name} | {} {unit} | {beside} | {judged} | {most} | {aim} | {} |", short(*ours), self.verdict())
    }
}

/// Figures as Markdown.
pub fn table(figures: &[Figure]) -> String {
    let mut text =
        "| measured | Majordomo | baseline | result | limit | goal | |\n|---|---|---|---|---|---|---|\n".to_owned();
    for figure in figures {
        text.push_str(&format!("{figure}\n"));
    }
    text
}

/// The middle one; of an even number, the lower of the two.
pub fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// As many digits as mean something.
fn short(value: f64) -> String {
    match value.abs() {
        size if size.is_infinite() => "–".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ours: f64, beside: Option<f64>) -> Figure {
        Figure { name: "work".to_owned(), ours, beside, unit: "µs", most: 3.0, aim: 2.0 }
    }

    #[test]
    fn a_figure_with_something_beside_it_is_a_ratio() {
        assert_eq!(
            figure(500.0, Some(250.0)).to_string(),
            "| work | 500 µs | 250 µs | 2.00 | 3.00 | 2.00 | goal met |"
        );
        assert_eq!(figure(2.5, None).to_string(), "| work | 2.50 µs | – | 2.50 | 3.00 | 2.00 | within limit |");
        assert!(figure(31.0, Some(10.0)).to_string().ends_with("| **missed** |"));
        let free = Figure { most: f64::INFINITY, aim: f64::INFINITY, ..figure(2.5, None) };
        assert_eq!(free.to_string(), "| work | 2.50 µs | – | 2.50 | – | – | no limit |");
    }

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![4, 1, 3, 2]), 2);
        assert_eq!(median(Vec::new()), 0);
    }
}
