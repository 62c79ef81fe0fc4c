//! One word of the text: its quotes taken away, its braces spread out, and what is computed in it found.

use brush_parser::word::{
    BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr, WordPiece, WordPieceWithSource, parse,
    parse_brace_expansions,
};

use super::{Reader, Unreadable, options};
use crate::script::{Oddity, Word};

/// More alternatives than this are not spread out; the word counts as computed.
const MAX_ALTERNATIVES: usize = 64;
/// Nor are more braces looked into: the parser tries each that is not closed in two ways.
const MAX_BRACES: usize = 6;

impl Reader {
    /// The words that a raw word of the text stands for: one, or several where braces list them.
    pub(super) fn words(&mut self, raw: &str) -> Result<Vec<Word>, Unreadable> {
        if !raw.contains('{') {
            return Ok(vec![self.word(raw)?]);
        }
        if raw.matches('{').count() > MAX_BRACES {
            return Ok(vec![Word { is_computed: true, is_opaque: true, ..self.word(raw)? }]);
        }
        let alternatives =
            parse_brace_expansions(raw, &options()).map_err(|_| Unreadable)?.and_then(|pieces| spread(&pieces));
        let Some(alternatives) = alternatives else {
            return Ok(vec![Word { is_computed: true, is_opaque: true, ..self.word(raw)? }]);
        };
        let is_braced = alternatives.len() > 1;
        alternatives.iter().map(|one| Ok(Word { is_braced, ..self.word(one)? })).collect()
    }

    pub(super) fn word(&mut self, raw: &str) -> Result<Word, Unreadable> {
        let pieces = parse(raw, &options()).map_err(|_| Unreadable)?;
        let mut word = Word::default();
        self.pieces(raw, &pieces, Quotes::None, &mut word)?;
        Ok(word)
    }

    fn pieces(
        &mut self,
        raw: &str,
        pieces: &[WordPieceWithSource],
        quotes: Quotes,
        word: &mut Word,
    ) -> Result<(), Unreadable> {
        for one in pieces {
            let source = raw.get(one.start_index..one.end_index).ok_or(Unreadable)?;
            match &one.piece {
                WordPiece::Text(text) => {
                    // A bracket that is a word of its own is the name of a program.
                    if quotes == Quotes::None && text.contains(['*', '?', '[']) && raw != "[" {
                        word.is_glob = true;
                        word.is_loose |= word.text.is_empty() && text.starts_with(['*', '?', '[']);
                    }
                    // The old form of arithmetic, and whatever the parser took for text though a shell would not.
                    let is_old = (text.starts_with('[') && word.text.ends_with('$')) || text.contains("$[");
                    word.is_opaque |= is_old || text.contains('`') || text.contains("$(") || text.contains("${");
                    word.is_computed |= word.is_opaque;
                    word.push_text(text);
                }
                WordPiece::SingleQuotedText(text) => word.push_text(text),
                WordPiece::AnsiCQuotedText(text) => match plain_escapes(text) {
                    Some(text) => word.push_text(&text),
                    None => word.push_opaque(source),
                },
                WordPiece::EscapeSequence(escape) => word.push_text(escape.strip_prefix('\\').unwrap_or(escape)),
                WordPiece::DoubleQuotedSequence(inner) => self.pieces(raw, inner, Quotes::Double, word)?,
                // What is shown for it comes from a catalogue of translations.
                WordPiece::GettextDoubleQuotedSequence(inner) => {
                    word.is_computed = true;
                    word.is_opaque = true;
                    self.pieces(raw, inner, Quotes::Double, word)?;
                }
                WordPiece::TildePrefix(_) => return Err(Unreadable),
                WordPiece::ParameterExpansion(ParameterExpr::Parameter { parameter, indirect: false })
                    if is_simple(parameter) =>
                {
                    word.push_variable(name_of(parameter), source, quotes == Quotes::Double);
                }
                WordPiece::ParameterExpansion(_) => {
                    word.is_loose |= quotes == Quotes::None || word.text.is_empty();
                    word.push_opaque(source);
                    // An operator's operand may hold commands of its own. What cannot be read in it stays computed.
                    let inner = source.trim_start_matches("${").trim_end_matches('}');
                    if inner.len() < source.len() {
                        self.word(inner)?;
                    }
                }
                WordPiece::CommandSubstitution(command) => self.substitution(source, command, quotes, word)?,
                WordPiece::BackquotedCommandSubstitution(command) => {
                    // A backslash in there is taken away before the command is read, by rules of its own.
                    if command.contains('\\') {
                        return Err(Unreadable);
                    }
                    self.substitution(source, command, quotes, word)?;
                }
                WordPiece::ArithmeticExpression(expression) => {
                    let is_sum = |c: char| c.is_ascii_digit() || " +-*/%()".contains(c);
                    if expression.value.chars().all(is_sum) {
                        word.push_text(source);
                    } else {
                        word.push_opaque(source);
                        self.word(&expression.value)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn substitution(&mut self, source: &str, command: &str, quotes: Quotes, word: &mut Word) -> Result<(), Unreadable> {
        self.script.oddities.push(Oddity::Substitution);
        // In quotes it is one word, but what that begins with is not known either.
        word.is_loose |= quotes == Quotes::None || word.text.is_empty();
        word.push_computed(source);
        let is_single = self.script.is_single;
        // `$(<file)` and `$( )` hold no command; the file is seen as a redirection.
        self.text(command)?;
        self.script.is_single = is_single;
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

/// Whether a parameter is inserted as it is. The subscript of an array is evaluated.
fn is_simple(parameter: &Parameter) -> bool {
    !matches!(parameter, Parameter::NamedWithIndex { .. } | Parameter::NamedWithAllIndices { .. })
}

fn name_of(parameter: &Parameter) -> &str {
    match parameter {
        Parameter::Named(name) => name,
        // `bash -c` has no arguments to insert; the special ones are numbers and flags.
        _ => "",
    }
}

/// The text of `$'…'` where it holds only the escapes that people use to write a tab or a new line.
fn plain_escapes(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => plain.push(match characters.next()? {
                'n' => '\n',
                't' => '\t',
                c @ ('\\' | '\'' | '"') => c,
                _ => return None,
            }),
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// Every alternative of a word with braces, or nothing if they are too many or not certain.
fn spread(pieces: &[BraceExpressionOrText]) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for piece in pieces {
        let choices = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                let mut choices = Vec::new();
                for member in members {
                    match member {
                        BraceExpressionMember::Child(inner) => choices.extend(spread(inner)?),
                        // Both ends show whether a number can begin with a minus; the numbers between name nothing
                        // else.
                        BraceExpressionMember::NumberSequence { start, end, .. } => {
                            choices.extend([start.to_string(), end.to_string()]);
                        }
                        BraceExpressionMember::CharSequence { .. } => return None,
                    }
                }
                choices
            }
        };
        if all.len() * choices.len() > MAX_ALTERNATIVES {
            return None;
        }
        all = all.iter().flat_map(|begun| choices.iter().map(move |choice| format!("{begun}{choice}"))).collect();
    }
    Some(all)
}
