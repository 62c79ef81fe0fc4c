//! What was measured, and how it is shown.

use std::fmt::Write;

use crate::sets::is_held;

/// One figure about one part of a set.
pub struct Figure {
    pub set: &'static str,
    pub part: &'static str,
    /// What the share is of.
    pub measure: &'static str,
    /// How many were right, of how many.
    pub right: usize,
    pub of: usize,
    /// The least share that will do; none where the figure is only told.
    pub bound: Option<f64>,
    /// What went wrong, a line each.
    pub misses: Vec<String>,
}

impl Figure {
    pub fn share(&self) -> f64 {
        if self.of == 0 { 1.0 } else { self.right as f64 / self.of as f64 }
    }

    pub fn is_below(&self) -> bool {
        self.bound.is_some_and(|bound| self.share() < bound)
    }

    pub fn name(&self) -> String {
        format!("{} {} ({}: {:.3})", self.set, self.part, self.measure, self.share())
    }
}

/// The table, and below it what went wrong.
pub fn table(figures: &[Figure], with_held: bool) -> String {
    let mut text = format!("{:<12}{:<9}{:<20}{:>9}{:>9}{:>9}\n", "set", "part", "measure", "right", "share", "bound");
    for figure in figures {
        let right = format!("{}/{}", figure.right, figure.of);
        let bound = figure.bound.map_or_else(|| "-".to_owned(), |bound| format!("{bound:.2}"));
        let mark = if figure.is_below() { "  below" } else { "" };
        let Figure { set, part, measure, .. } = figure;
        let share = figure.share();
        let _ = writeln!(text, "{set:<12}{part:<9}{measure:<20}{right:>9}{share:>9.3}{bound:>9}{mark}");
    }
    for figure in figures.iter().filter(|figure| !figure.misses.is_empty() && (with_held || !is_held(figure.part))) {
        let _ = writeln!(text, "\n{} {}, {}:", figure.set, figure.part, figure.measure);
        for miss in &figure.misses {
            let _ = writeln!(text, "  {miss}");
        }
    }
    text
}
