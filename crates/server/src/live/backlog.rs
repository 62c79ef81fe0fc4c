//! The newest frames of a feed, kept as the very bytes that were handed out.
//!
//! Watchers that join or fall behind take them from here, so that a thousand that come at once do not read the log a thousand
//! times. What is older than a bound is let go of; who needs it reads the log.

use std::collections::VecDeque;

use super::family::{Place, Placed};
use super::put;
use bytes::{Bytes, BytesMut};

/// What a feed handed out, as far back as it is kept.
pub(super) struct Backlog {
    /// In order; none is empty.
    pieces: VecDeque<Piece>,
    /// Bytes of all pieces.
    held: usize,
    most: usize,
    /// The newest frame that is kept no more; the very first place while all are.
    gone: Place,
}

/// What is next for a watcher that has seen a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// These frames, up to the number.
    Piece(Bytes, Place),
    /// Nothing yet: the frame is the newest.
    Nothing,
    /// More than is kept.
    Gone,
}

impl Backlog {
    /// Keeps the newest `most` bytes, and the newest piece however large it is.
    pub fn new(most: usize) -> Self {
        Self { pieces: VecDeque::new(), held: 0, most, gone: Place::default() }
    }

    /// The same for frames after one; what came before is not kept.
    pub fn beginning_after(frame: Place, most: usize) -> Self {
        Self { gone: frame, ..Self::new(most) }
    }

    pub fn push(&mut self, piece: Piece) {
        let Some(_) = piece.last() else { return };
        self.held += piece.bytes.len();
        self.pieces.push_back(piece);
        while self.held > self.most && self.pieces.len() > 1 {
            let oldest = self.pieces.pop_front().expect("there is more than one");
            self.held -= oldest.bytes.len();
            self.gone = oldest.last().expect("no piece is empty");
        }
    }

    pub fn after(&self, seen: Place) -> Next {
        if !self.reaches_back_to(seen) {
            return Next::Gone;
        }
        let at = self.pieces.partition_point(|piece| piece.last().is_some_and(|last| last <= seen));
        match self.pieces.get(at) {
            Some(piece) => Next::Piece(piece.after(seen), piece.last().expect("no piece is empty")),
            None => Next::Nothing,
        }
    }

    /// The frame after which everything is kept.
    pub fn begins_after(&self) -> Place {
        self.gone
    }

    /// Whether everything after a frame is kept.
    pub fn reaches_back_to(&self, seen: Place) -> bool {
        seen >= self.gone
    }
}

/// Frames, one after the other.
#[derive(Default)]
pub(super) struct Piece {
    pub bytes: Bytes,
    /// Each frame's place, and where it ends.
    ends: Box<[(Place, usize)]>,
}

impl Piece {
    /// The place of its newest frame.
    pub fn last(&self) -> Option<Place> {
        self.ends.last().map(|(id, _)| *id)
    }

    /// The frames after one.
    fn after(&self, seen: Place) -> Bytes {
        let skipped = self.ends.partition_point(|(id, _)| *id <= seen);
        let from = skipped.checked_sub(1).map_or(0, |last| self.ends[last].1);
        self.bytes.slice(from..)
    }
}

/// A piece that is being written.
#[derive(Default)]
pub(super) struct Draft {
    bytes: BytesMut,
    ends: Vec<(Place, usize)>,
}

impl Draft {
    pub fn put(&mut self, lines: impl IntoIterator<Item = impl Into<Placed>>) {
        for line in lines {
            let Placed { place, text } = line.into();
            put(&mut self.bytes, Some(place), &text);
            self.ends.push((place, self.bytes.len()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn finish(self) -> Piece {
        Piece { bytes: self.bytes.freeze(), ends: self.ends.into() }
    }
}

#[cfg(test)]
mod tests {
    use view::Line;

    use super::*;

    fn piece(ids: impl IntoIterator<Item = u64>) -> Piece {
        let mut draft = Draft::default();
        draft.put(ids.into_iter().map(|id| Line { id, text: format!("{{\"seq\":{id}}}") }));
        draft.finish()
    }

    /// The numbers of all that is handed out after a frame; none where more is missing than is kept.
    fn told(past: &Backlog, mut seen: u64) -> Option<Vec<u64>> {
        let mut ids = Vec::new();
        loop {
            match past.after(seen.into()) {
                Next::Piece(bytes, last) => {
                    let text = String::from_utf8(bytes.to_vec()).expect("text");
                    let numbers = text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse::<u64>().ok());
                    ids.extend(numbers);
                    assert_eq!(ids.last().copied().map(Place::from), Some(last));
                    seen = last.frame;
                }
                Next::Nothing => return Some(ids),
                Next::Gone => return None,
            }
        }
    }

    #[test]
    fn a_client_that_has_seen_any_frame_gets_exactly_those_after_it() {
        let mut past = Backlog::new(usize::MAX);
        for ids in [1000..1003, 2000..2001, 4000..4005] {
            past.push(piece(ids));
        }
        let all = [1000, 1001, 1002, 2000, 4000, 4001, 4002, 4003, 4004];
        for seen in (0..=5000).step_by(500).chain(all) {
            let after: Vec<u64> = all.into_iter().filter(|id| *id > seen).collect();
            assert_eq!(told(&past, seen), Some(after), "after {seen}");
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for_and_a_client_that_missed_more_is_told_so() {
        let size = piece([1]).bytes.len();
        let mut past = Backlog::new(2 * size);
        for id in 1..=5 {
            past.push(piece([id]));
        }
        assert_eq!((past.held, past.pieces.len()), (2 * size, 2));
        assert_eq!(told(&past, 2), None);
        assert_eq!(told(&past, 3), Some(vec![4, 5]));
        past.push(piece(10..20));
        assert_eq!(told(&past, 5), Some((10..20).collect()), "the newest piece is kept, however large");
        assert_eq!(told(&past, 4), None);
    }

    #[test]
    fn a_piece_without_frames_changes_nothing() {
        let mut past = Backlog::new(0);
        past.push(piece([7]));
        past.push(Piece::default());
        assert_eq!(told(&past, 0), Some(vec![7]));
        assert_eq!(told(&past, 7), Some(vec![]));
    }
}
