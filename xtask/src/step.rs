//! One program run, shown and timed.

use std::fmt;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};

/// How the variables begin that cargo sets for this program alone. Build scripts of libraries look at some of them: a step that had them would
/// build these libraries, and all that depend on them, anew after each build without them.
const OF_CARGO: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// A program, its arguments and variables, and what it is for.
pub(crate) struct Step {
    name: &'static str,
    program: &'static str,
    args: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Step {
    /// A step from a line of arguments without quotes.
    pub(crate) fn new(name: &'static str, program: &'static str, args: &str) -> Self {
        Self { name, program, args: args.split_whitespace().map(str::to_owned).collect(), variables: Vec::new() }
    }

    /// The step with a variable set.
    pub(crate) fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.to_owned()));
        self
    }

    /// Runs it. A failure ends with the line that repeats it.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        eprintln!("\n== {}: {self}", self.name);
        let begun = Instant::now();
        let mut command = Command::new(self.program);
        let is_own = |name: &std::ffi::OsString| OF_CARGO.iter().any(|begin| name.to_string_lossy().starts_with(begin));
        std::env::vars_os().map(|(name, _)| name).filter(is_own).for_each(|name| {
            command.env_remove(name);
        });
        command.args(&self.args).envs(self.variables.iter().map(|(name, value)| (name, value)));
        let status = command.status().with_context(|| format!("cannot run {}", self.program))?;
        eprintln!("== {}: {:.1} s", self.name, begun.elapsed().as_secs_f64());
        if !status.success() {
            bail!("{} failed ({status}). To repeat it:\n  {self}", self.name);
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}='{value}' ")?;
        }
        write!(f, "{} {}", self.program, self.args.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_tells_this_program_is_not_told_to_a_step() {
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo runs this test");
        for (variable, is_there) in [("CARGO_PKG_NAME", false), ("CARGO_MANIFEST_DIR", false), ("PATH", true)] {
            assert_eq!(Step::new("a variable", "printenv", variable).run().is_ok(), is_there, "{variable}");
        }
    }

    #[test]
    fn a_failure_says_how_to_repeat_it() {
        let step = Step::new("nothing", "cargo", "no-such-command-of-cargo").with("A", "b");
        let error = step.run().expect_err("there is no such command").to_string();
        assert!(error.ends_with("To repeat it:\n  A='b' cargo no-such-command-of-cargo"), "{error}");
    }
}
