//! Single items of a text: what one word or figure may stand for, for the grammar to ask.

use super::Grammar;
use crate::time::word::{Sense, Unit};

impl Grammar<'_> {
    pub(super) fn whole_number(&self, at: usize) -> Option<i8> {
        match self.any(at, |sense| matches!(sense, Sense::Number(_)))? {
            Sense::Number(number) if number.fract() == 0.0 && (0.0..=59.0).contains(&number) => Some(number as i8),
            _ => None,
        }
    }

    pub(super) fn day_number(&self, at: usize) -> Option<i8> {
        match self.figures(at)? {
            Sense::Ordinal(day) | Sense::Spelled(day) => Some(day),
            Sense::Number(_) => self.whole_number(at).filter(|day| (1..=31).contains(day)),
            _ => None,
        }
    }

    pub(super) fn year(&self, at: usize) -> Option<i16> {
        match self.any(at, |sense| matches!(sense, Sense::Number(_)))? {
            Sense::Number(year) if (2000.0..2100.0).contains(&year) => Some(year as i16),
            _ => None,
        }
    }

    pub(super) fn month(&self, at: usize) -> Option<i8> {
        match self.any(at, |sense| matches!(sense, Sense::Month(_)))? {
            Sense::Month(month) => Some(month),
            _ => None,
        }
    }

    pub(super) fn unit(&self, at: usize) -> Option<Unit> {
        match self.any(at, |sense| matches!(sense, Sense::Unit(_)))? {
            Sense::Unit(unit) => Some(unit),
            _ => None,
        }
    }

    pub(super) fn figures(&self, at: usize) -> Option<Sense> {
        let senses = &self.items.get(at)?.senses;
        let is_ordinal = |sense: &&Sense| matches!(sense, Sense::Ordinal(_));
        let is_figure =
            |sense: &&Sense| matches!(sense, Sense::Date(_) | Sense::DayMonth(..) | Sense::Number(_) | Sense::Month(_));
        let is_spelled = |sense: &&Sense| matches!(sense, Sense::Spelled(_));
        let figure = senses.iter().find(is_ordinal).or_else(|| senses.iter().find(is_figure));
        figure.or_else(|| senses.iter().find(is_spelled)).copied()
    }

    pub(super) fn any(&self, at: usize, fits: impl Fn(&Sense) -> bool) -> Option<Sense> {
        self.items.get(at)?.senses.iter().find(|sense| fits(sense)).copied()
    }

    pub(super) fn is(&self, at: usize, sense: Sense) -> bool {
        self.items.get(at).is_some_and(|item| item.is(sense))
    }

    /// Behind articles and the like, of which there are two at most.
    pub(super) fn past_skips(&self, at: usize) -> usize {
        let is_skip = |at: &usize| self.is(*at, Sense::Skip);
        (at..).take(2).take_while(is_skip).last().map_or(at, |last| last + 1)
    }
}
