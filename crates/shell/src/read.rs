//! From the text of a command to a [`Script`]: the parser's tree, flattened.
//!
//! The parser is `brush-parser`, which reads the language as bash does; what it cannot read is not judged.
//! Patterns of `extglob` are off, as they are for `bash -c`. Whatever the tree holds is visited, so that a part of the
//! language that is forgotten here does not compile. Words are `word`'s.

mod word;

use std::io::Cursor;
use std::panic::catch_unwind;

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, BinaryPredicate, Command, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline,
    Program, RedirectList, SimpleCommand, UnaryPredicate,
};
use brush_parser::{Parser, ParserOptions, SourceInfo};

use crate::script::{Assigned, Call, Oddity, Redirect, Script, Word};
use crate::{limits, values};

const UNREADABLE: &str = "it cannot be parsed as a shell command, so its effect is unknown";

/// Reads a command, or says why it cannot be read.
pub(crate) fn script(command: &str) -> Result<Script, &'static str> {
    let command = &*limits::checked(command)?;
    // A parser that breaks on a text has not read it. Nothing of the reader is used after a panic.
    let read = catch_unwind(|| {
        let mut reader = Reader::default();
        reader.text(command)?;
        Ok(reader.script)
    });
    let mut script = read.unwrap_or(Err(Unreadable)).map_err(|Unreadable| UNREADABLE)?;
    script.is_single &= script.calls.len() == 1 && script.oddities.is_empty();
    values::put_in(&mut script);
    Ok(script)
}

/// A text, or a piece of one, that has no meaning to the parser.
#[derive(Debug)]
struct Unreadable;

#[derive(Default)]
struct Reader {
    script: Script,
}

/// How `bash -c` reads. A tilde is left in the text, where it is seen.
fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, tilde_expansion: false, ..ParserOptions::default() }
}

impl Reader {
    /// A whole text: the command itself, or what stands in a substitution.
    fn text(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut parser = Parser::new(Cursor::new(text), &options(), &SourceInfo::default());
        let Program { complete_commands } = parser.parse_program().map_err(|_| Unreadable)?;
        self.script.is_single = is_one_simple_command(&complete_commands);
        complete_commands.iter().try_for_each(|list| self.list(list))
    }

    fn list(&mut self, CompoundList(items): &CompoundList) -> Result<(), Unreadable> {
        for item in items {
            let AndOrList { first, additional } = &item.0;
            self.pipeline(first)?;
            for AndOr::And(pipeline) | AndOr::Or(pipeline) in additional {
                self.pipeline(pipeline)?;
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<(), Unreadable> {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Result<(), Unreadable> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.compound(compound)
            }
            Command::Function(function) => {
                self.script.oddities.push(Oddity::Function);
                self.redirects(function.body.1.as_ref())?;
                self.compound(&function.body.0)
            }
            Command::ExtendedTest(test) => self.test(&test.expr),
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Result<(), Unreadable> {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic([Some(&arithmetic.expr.value)]),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                self.arithmetic(parts.map(|part| part.as_ref().map(|expression| &expression.value)))?;
                self.list(&clause.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                let name = &clause.variable_name;
                self.script.looped.push(name.clone());
                for value in clause.values.iter().flatten() {
                    for word in self.words(&value.value)? {
                        self.value(name, Some(word.clone()));
                        self.script.loose.push(word);
                    }
                }
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.loose(&clause.value.value)?;
                for case in &clause.cases {
                    case.patterns.iter().try_for_each(|pattern| self.loose(&pattern.value))?;
                    case.cmd.iter().try_for_each(|list| self.list(list))?;
                }
                Ok(())
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().try_for_each(|list| self.list(list))?;
                    self.list(&branch.body)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Result<(), Unreadable> {
        // The call takes its place before what stands in its substitutions.
        let place = self.script.calls.len();
        let mut words: Vec<Word> = Vec::new();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    self.assignment(assignment, simple.word_or_name.is_none())?;
                }
                other => self.item(other, &mut words)?,
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.extend(self.words(&name.value)?);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words)?;
        }
        if !words.is_empty() {
            self.script.calls.insert(place, Call { words });
        }
        Ok(())
    }

    fn assignment(&mut self, assignment: &Assignment, is_alone: bool) -> Result<(), Unreadable> {
        let (AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _)) = &assignment.name;
        self.script.assigned.push(Assigned { name: name.clone(), is_alone });
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.arithmetic([Some(index)])?;
        }
        match &assignment.value {
            AssignmentValue::Scalar(value) => {
                // Braces and patterns stay as they are in an assignment.
                let word = Word { is_glob: false, ..self.word(&value.value)? };
                let is_whole = matches!(assignment.name, AssignmentName::VariableName(_)) && !assignment.append;
                self.value(name, is_whole.then(|| word.clone()));
                self.script.loose.push(word);
            }
            AssignmentValue::Array(values) => {
                self.value(name, None);
                for (index, value) in values {
                    index.iter().try_for_each(|index| self.loose(&index.value))?;
                    self.loose(&value.value)?;
                }
            }
        }
        Ok(())
    }

    /// Notes what a variable may be set to, or that this cannot be told.
    fn value(&mut self, name: &str, value: Option<Word>) {
        // A tilde is expanded to a path that the text does not hold.
        let value = value.filter(|word| !word.is_computed && !word.text.contains('~'));
        let values = self.script.values.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
        match (values.as_mut(), value) {
            (Some(known), Some(word)) => known.push(Word { is_braced: false, ..word }),
            (_, None) => *values = None,
            (None, Some(_)) => {}
        }
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem, words: &mut Vec<Word>) -> Result<(), Unreadable> {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.extend(self.words(&word.value)?);
                Ok(())
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.script.oddities.push(Oddity::Substitution);
                words.push(Word { text: "<(…)".to_owned(), is_computed: true, ..Word::default() });
                self.list(&subshell.list)
            }
        }
    }

    fn redirects(&mut self, list: Option<&RedirectList>) -> Result<(), Unreadable> {
        list.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Result<(), Unreadable> {
        match redirect {
            IoRedirect::File(_, kind, target) => {
                let is_copy = matches!(kind, IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::DuplicateOutput);
                let writes = !matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                match target {
                    IoFileRedirectTarget::Fd(_) => Ok(()),
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                        let is_number =
                            word.value.strip_suffix('-').unwrap_or(&word.value).bytes().all(|b| b.is_ascii_digit());
                        if is_copy && is_number { Ok(()) } else { self.file(&word.value, writes) }
                    }
                    IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                        self.script.oddities.push(Oddity::Substitution);
                        self.list(&subshell.list)
                    }
                }
            }
            IoRedirect::OutputAndError(word, _) => self.file(&word.value, true),
            IoRedirect::HereString(_, word) => self.loose(&word.value),
            // None is left in a text that was checked.
            IoRedirect::HereDocument(..) => Err(Unreadable),
        }
    }

    fn file(&mut self, raw: &str, writes: bool) -> Result<(), Unreadable> {
        let targets = self.words(raw)?;
        self.script.redirects.extend(targets.into_iter().map(|target| Redirect { writes, target }));
        Ok(())
    }

    fn loose(&mut self, raw: &str) -> Result<(), Unreadable> {
        let words = self.words(raw)?;
        self.script.loose.extend(words);
        Ok(())
    }

    fn arithmetic<const N: usize>(&mut self, parts: [Option<&String>; N]) -> Result<(), Unreadable> {
        self.script.oddities.push(Oddity::Arithmetic);
        parts.into_iter().flatten().try_for_each(|part| self.loose(part))
    }

    fn test(&mut self, test: &ExtendedTestExpr) -> Result<(), Unreadable> {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                // The subscript of a variable that is asked for is evaluated, commands and all.
                if matches!(
                    predicate,
                    UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef
                ) {
                    self.script.oddities.push(Oddity::EvaluatingTest);
                }
                self.loose(&word.value)
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                let are_numbers = [left, right].iter().all(|side| side.value.bytes().all(|b| b.is_ascii_digit()));
                if evaluates(predicate) && !are_numbers {
                    self.script.oddities.push(Oddity::EvaluatingTest);
                }
                self.loose(&left.value)?;
                self.loose(&right.value)
            }
        }
    }
}

/// Whether a predicate computes with its operands, or is a redirection to a shell that has no `[[`.
fn evaluates(predicate: &BinaryPredicate) -> bool {
    matches!(
        predicate,
        BinaryPredicate::LeftSortsBeforeRight
            | BinaryPredicate::LeftSortsAfterRight
            | BinaryPredicate::ArithmeticEqualTo
            | BinaryPredicate::ArithmeticNotEqualTo
            | BinaryPredicate::ArithmeticLessThan
            | BinaryPredicate::ArithmeticLessThanOrEqualTo
            | BinaryPredicate::ArithmeticGreaterThan
            | BinaryPredicate::ArithmeticGreaterThanOrEqualTo
    )
}

fn is_one_simple_command(lists: &[CompoundList]) -> bool {
    let [CompoundList(items)] = lists else { return false };
    let [item] = items.as_slice() else { return false };
    item.0.additional.is_empty() && matches!(item.0.first.seq.as_slice(), [Command::Simple(_)])
}
