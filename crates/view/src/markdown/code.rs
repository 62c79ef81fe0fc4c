//! Colours for lines of code: comments, texts, numbers and the words that most languages reserve. It knows no grammar, so that it is small and
//! is right where it matters: nothing is left out, and nothing is moved.

use crate::draw::{Colour, Line, Style};

/// Words that languages reserve.
const RESERVED: &[&str] = &[
    "abstract",
    "and",
    "as",
    "async",
    "await",
    "begin",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "elif",
    "else",
    "elsif",
    "end",
    "enum",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "fn",
    "for",
    "foreach",
    "from",
    "func",
    "function",
    "global",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "module",
    "move",
    "mut",
    "namespace",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "of",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "require",
    "return",
    "select",
    "self",
    "Self",
    "static",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "False",
    "try",
    "type",
    "typedef",
    "typeof",
    "undefined",
    "union",
    "unless",
    "unsafe",
    "until",
    "use",
    "using",
    "var",
    "void",
    "when",
    "where",
    "while",
    "with",
    "yield",
    "SELECT",
    "FROM",
    "WHERE",
    "INSERT",
    "INTO",
    "UPDATE",
    "DELETE",
    "CREATE",
    "TABLE",
    "JOIN",
    "ON",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "GROUP",
    "BY",
    "ORDER",
    "LIMIT",
    "VALUES",
    "SET",
    "AS",
];

/// How a language writes comments to the end of a line; none for texts that are no code.
fn comment(language: &str) -> Option<&'static str> {
    let language = language.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
    match &*language {
        "rust" | "rs" | "c" | "h" | "cpp" | "c++" | "cc" | "cs" | "csharp" | "java" | "js" | "javascript" | "jsx"
        | "ts" | "typescript" | "tsx" | "go" | "swift" | "kotlin" | "kt" | "scala" | "php" | "dart" | "zig"
        | "proto" | "json5" | "jsonc" | "css" | "scss" => Some("//"),
        "python" | "py" | "sh" | "bash" | "zsh" | "fish" | "shell" | "ruby" | "rb" | "perl" | "pl" | "toml"
        | "yaml" | "yml" | "make" | "makefile" | "dockerfile" | "docker" | "r" | "julia" | "elixir" | "ex" | "nix"
        | "ini" | "conf" | "cmake" | "awk" => Some("#"),
        "sql" | "lua" | "haskell" | "hs" | "elm" | "ada" => Some("--"),
        "lisp" | "clojure" | "clj" | "scheme" | "el" => Some(";"),
        "json" => Some("\u{0}"),
        _ => None,
    }
}

fn is_rust(language: &str) -> bool {
    matches!(language.split([' ', ',', '{']).next(), Some("rust" | "rs" | "Rust"))
}

/// A line of code with its colours.
pub fn line(text: &str, language: &str) -> Line {
    let plain = Style::of(Colour::Cyan);
    let Some(comment) = comment(language) else { return Line::new(text, plain) };
    let has_lifetimes = is_rust(language);
    let mut line = Line::default();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let begins_word = !(before.is_alphanumeric() || before == '_');
        let (end, style) = if rest.starts_with(comment) && (comment != "#" || before.is_whitespace()) {
            (rest.len(), Style::DIM)
        } else if matches!(first, '"' | '\'' | '`') && !(first == '\'' && has_lifetimes && is_lifetime(rest)) {
            (text_end(rest, first), Style::of(Colour::Green))
        } else if first.is_ascii_digit() && begins_word {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_')).unwrap_or(rest.len());
            (end, Style::of(Colour::Yellow))
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let is_reserved = RESERVED.contains(&&rest[..end]);
            (end, if is_reserved { Style { bold: true, ..Style::of(Colour::Blue) } } else { plain })
        } else {
            (first.len_utf8(), plain)
        };
        line.push(&rest[..end], style);
        before = rest[..end].chars().next_back().unwrap_or(' ');
        rest = &rest[end..];
    }
    line
}

/// Whether a quote begins a name, as `'a` does in Rust, and no character, as `'a'` does.
fn is_lifetime(rest: &str) -> bool {
    let mut behind = rest.chars().skip(1);
    behind.next().is_some_and(|c| c.is_alphabetic() || c == '_') && behind.next() != Some('\'')
}

/// Where a text ends that begins with a quote: behind the next one that is not escaped, or with the line.
fn text_end(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces that stand out.
    fn pieces(text: &str, language: &str) -> Vec<String> {
        let line = line(text, language);
        assert_eq!(line.text(), text);
        line.spans.into_iter().filter(|span| span.style != Style::of(Colour::Cyan)).map(|span| span.text).collect()
    }

    #[test]
    fn comments_texts_numbers_and_reserved_words_stand_out() {
        assert_eq!(pieces("let x = \"a // \\\" b\"; // 12", "rust"), ["let", "\"a // \\\" b\"", "// 12"]);
        assert_eq!(pieces("x1 = 0x1f # not \"this\"", "py"), ["0x1f", "# not \"this\""]);
        assert_eq!(pieces("fn f<'a>(x: &'a str)", "rs"), ["fn"]);
        assert_eq!(pieces("{\"a\": 1}", "json"), ["\"a\"", "1"]);
        assert_eq!(pieces("echo $x#y 'open", "sh"), ["'open"]);
    }

    #[test]
    fn text_of_no_language_is_left_as_it_is() {
        assert_eq!(pieces("let it be \"so\" 12", ""), Vec::<String>::new());
        assert_eq!(pieces("契約 let", "text"), Vec::<String>::new());
    }
}
