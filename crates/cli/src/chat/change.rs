//! What exactly a call would do, as lines for the person who decides on it: a change of a file as a difference, a command as it stands,
//! anything else as its arguments.
//!
//! A form of its own is drawn only where `tool::Preview` can say everything that the arguments say; otherwise they are shown as they stand
//! (T25). Lines are as long as what they show; they are broken where they are drawn, and nothing is dropped (T24). A file is read once for each
//! question, apart from the loop that draws.

use std::path::Path;
use std::sync::Arc;

use agent::approval::Approval;
use tool::Preview;
use tool::diff::{LineChange, changed_lines};
use unicode_segmentation::UnicodeSegmentation;
use view::draw::columns::width;
use view::draw::{Colour, Line, Style};
use view::safe;

use crate::question::{self, Depth};

/// A file that is larger is not read to show what changes.
const LARGE: u64 = 1 << 20;
/// Lines around a change.
const AROUND: usize = 2;

/// What a call would do, where that is known without reading a file.
pub fn at_once(question: &Approval) -> Option<Arc<[Line]>> {
    if question.question.is_some() {
        return Some(Arc::new([]));
    }
    match Preview::of(&question.tool, &question.input) {
        Some(Preview::Edits { .. } | Preview::File { .. }) => None,
        Some(Preview::Command { command, folder, timeout_s, network }) => {
            let mut lines = command_lines(&command);
            let mut say = |words: String| lines.push(Line::new(format!("    {words}"), Style::PLAIN));
            if let Some(folder) = folder {
                say(format!("in the folder {}", safe::line(&folder, usize::MAX)));
            }
            if let Some(timeout_s) = timeout_s {
                say(format!("for at most {timeout_s} s"));
            }
            if network {
                say("with a network".to_owned());
            }
            Some(lines.into())
        }
        None => Some(as_it_stands(question).into()),
    }
}

/// What a call would do. Reads the file that it would change.
pub fn read(question: &Approval) -> Arc<[Line]> {
    let read = |path: &str| {
        let file = Path::new(&*question.workspace).join(path);
        let is_small = std::fs::metadata(&file).is_ok_and(|found| found.is_file() && found.len() <= LARGE);
        let text = if is_small { std::fs::read_to_string(&file).ok() } else { None };
        // A file that is not there has no lines.
        text.or_else(|| (!file.exists()).then(String::new))
    };
    let note = |words: &str| Line::new(format!("  {words}"), Style::DIM);
    match Preview::of(&question.tool, &question.input) {
        Some(Preview::File { path, content }) => match read(&path) {
            Some(before) => difference(&before, &content, Some(1)).into(),
            None => {
                let mut lines = vec![note("what is in the file now is not shown: it is large, or not text")];
                lines.extend(difference("", &content, Some(1)));
                lines.into()
            }
        },
        Some(Preview::Edits { path, edits }) => {
            let mut text = read(&path);
            let mut lines = Vec::new();
            for (nth, edit) in edits.iter().enumerate() {
                if edits.len() > 1 {
                    lines.push(note(&format!("edit {} of {}", nth + 1, edits.len())));
                }
                let place = text.as_ref().and_then(|text| text.find(&edit.old));
                let first = text.as_ref().zip(place).map(|(text, at)| 1 + text[..at].matches('\n').count());
                if edit.all {
                    let places = text.as_ref().map_or(0, |text| text.matches(&edit.old).count());
                    lines.push(note(&format!("at every place where it stands; now {places}")));
                }
                lines.extend(difference(&edit.old, &edit.new, first));
                // The next one is made on what this one leaves.
                let most = if edit.all { usize::MAX } else { 1 };
                text = text.filter(|_| !edit.old.is_empty()).map(|text| text.replacen(&edit.old, &edit.new, most));
            }
            lines.into()
        }
        Some(Preview::Command { .. }) | None => at_once(question).unwrap_or_default(),
    }
}

/// All arguments, character by character.
pub fn as_it_stands(question: &Approval) -> Vec<Line> {
    let shown = question::input(&question.input, Depth::Whole);
    shown.into_iter().map(|line| Line::new(line, Style::PLAIN)).collect()
}

/// A line as several of so many columns, parted behind a space where there is one in the last third. Nothing is left out.
pub fn broken(line: &Line, columns: usize) -> Vec<Line> {
    let columns = columns.max(2);
    let text = line.text();
    // Where each row ends, in bytes of the text.
    let mut ends = Vec::new();
    let (mut taken, mut space) = (0, None);
    for (at, sign) in text.grapheme_indices(true) {
        let wide = width(sign);
        if taken + wide > columns {
            let (end, carried) = match space.take() {
                Some((end, before)) if 3 * before >= 2 * columns => (end, taken - before),
                _ => (at, 0),
            };
            ends.push(end);
            taken = carried;
        }
        taken += wide;
        if sign == " " {
            space = Some((at + sign.len(), taken));
        }
    }
    let mut lines = vec![Line::default()];
    let (mut ends, mut from) = (ends.into_iter().peekable(), 0);
    for span in &line.spans {
        let mut rest = span.text.as_str();
        while let Some(end) = ends.next_if(|end| *end < from + rest.len()) {
            let (row, behind) = rest.split_at(end - from);
            lines.last_mut().expect("there is one").push(row, span.style);
            lines.push(Line::default());
            (from, rest) = (end, behind);
        }
        lines.last_mut().expect("there is one").push(rest, span.style);
        from += rest.len();
    }
    lines
}

fn command_lines(command: &str) -> Vec<Line> {
    let lines = command.lines().enumerate();
    lines
        .map(|(nth, line)| {
            let mut shown = Line::new(if nth == 0 { "  $ " } else { "    " }, Style::DIM);
            shown.push(safe::line(line, usize::MAX), Style::of(Colour::Cyan));
            shown
        })
        .collect()
}

/// Two texts as lines that go and lines that come. Their numbers are those of the file, where it is known where they begin.
fn difference(old: &str, new: &str, first: Option<usize>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (nth, place) in changed_lines(old, new, AROUND).into_iter().enumerate() {
        if nth > 0 {
            lines.push(Line::new("    …", Style::DIM));
        }
        for line in place {
            let (sign, style) = match line.change {
                LineChange::Removed => ("-", Style::of(Colour::Red)),
                LineChange::Added => ("+", Style::of(Colour::Green)),
                LineChange::Kept => (" ", Style::DIM),
            };
            let number = first.map(|first| (first - 1 + line.number).to_string()).unwrap_or_default();
            let words = safe::line(&line.text, usize::MAX);
            lines.push(Line::new(format!("  {number:>4} {sign} {words}"), style));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::app::tests::question;
    use agent::Json;

    fn shown(tool: &str, input: &serde_json::Value, folder: &Path) -> String {
        let question = Approval {
            tool: tool.into(),
            input: Json::parse(&input.to_string()).expect("JSON"),
            workspace: folder.to_str().expect("letters").into(),
            ..question(1, None)
        };
        let lines = at_once(&question).unwrap_or_else(|| read(&question));
        lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
    }

    // T25
    #[test]
    fn arguments_that_the_tool_reads_otherwise_are_shown_as_they_stand() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = serde_json::json!({
            "path": "f", "old": "a", "new": "b", "old_string": "x", "new_string": "evil"
        });
        let lines = shown("edit_file", &input, folder.path());
        for words in [r#""old": "a""#, r#""old_string": "x""#, r#""new_string": "evil""#] {
            assert!(lines.contains(words), "{words}: {lines}");
        }
        let input = serde_json::json!({ "path": "f", "edits": [], "content": "x\n".repeat(100), "more": 1 });
        assert!(shown("write_file", &input, folder.path()).contains(r#""more": 1"#));
        let many: Vec<u32> = (0..100).collect();
        let lines = shown("other_tool", &serde_json::json!({ "numbers": many }), folder.path());
        assert!(lines.lines().count() > 100 && lines.contains("99"), "{lines}");
    }

    // T25
    #[test]
    fn a_command_is_shown_with_its_folder_its_time_and_its_network() {
        let input = serde_json::json!({ "cmd": "make\ninstall", "cwd": "sub", "timeout_s": 300, "network": true });
        let lines = shown("run_command", &input, Path::new("/"));
        assert_eq!(lines, "  $ make\n    install\n    in the folder sub\n    for at most 300 s\n    with a network");
    }

    #[test]
    fn edits_are_shown_in_their_order_with_the_numbers_of_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("f"), "one\ntwo\nthree\nfour\ntwo\n").expect("a file");
        let input = serde_json::json!({ "path": "f", "edits": [
            { "old_text": "three", "new_text": "3\n3b" },
            { "old_string": "four", "new_string": "4" },
            { "old_text": "two", "new_text": "2", "all": true },
        ] });
        let lines = shown("edit_file", &input, folder.path());
        let wanted = [
            "  edit 1 of 3",
            "     3 - three",
            "     3 + 3",
            "     4 + 3b",
            "  edit 2 of 3",
            "     5 - four",
            "     5 + 4",
            "  edit 3 of 3",
            "  at every place where it stands; now 2",
            "     2 - two",
            "     2 + 2",
        ];
        assert_eq!(lines, wanted.join("\n"));
        // What does not stand there is shown without a number.
        let input = serde_json::json!({ "path": "f", "old_text": "nine", "new_text": "9" });
        assert_eq!(shown("edit_file", &input, folder.path()), "       - nine\n       + 9");
    }

    #[test]
    fn a_file_of_wide_characters_is_compared_and_broken_by_columns() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("f"), "契約書\n第一条\n").expect("a file");
        let input = serde_json::json!({ "path": "f", "content": "契約書\n第二条\n" });
        let lines = shown("write_file", &input, folder.path());
        assert_eq!(lines, "     1   契約書\n     2 - 第一条\n     2 + 第二条");
        let line = Line::new("契約書".repeat(20), Style::PLAIN);
        let parts = broken(&line, 21);
        assert!(parts.iter().all(|part| part.width() <= 21), "{parts:?}");
        assert_eq!(parts.iter().map(Line::text).collect::<String>(), line.text());
    }

    #[test]
    fn a_line_is_parted_between_words_and_nothing_of_it_is_left_out() {
        let mut line = Line::new("  edit_file ", Style::BOLD);
        line.push("medium risk", Style::DIM);
        line.push(": changes the file notes.md   and more", Style::PLAIN);
        let texts = |columns| broken(&line, columns).iter().map(Line::text).collect::<Vec<_>>();
        assert_eq!(texts(40), ["  edit_file medium risk: changes the ", "file notes.md   and more"]);
        for columns in 2..60 {
            assert_eq!(texts(columns).concat(), line.text(), "{columns}");
            assert!(texts(columns).iter().all(|text| width(text) <= columns), "{columns}");
        }
        assert_eq!(broken(&line, 40)[0].spans.len(), 3, "styles stay with their words");
        assert_eq!(broken(&Line::default(), 10), [Line::default()]);
    }

    #[test]
    fn a_file_that_is_not_text_is_not_taken_for_an_empty_one() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("f"), [0xff, 0xfe, 0]).expect("a file");
        let lines = shown("write_file", &serde_json::json!({ "path": "f", "content": "new" }), folder.path());
        assert!(lines.starts_with("  what is in the file now is not shown"), "{lines}");
        let lines = shown("write_file", &serde_json::json!({ "path": "g", "content": "new" }), folder.path());
        assert_eq!(lines, "     1 + new");
    }
}
