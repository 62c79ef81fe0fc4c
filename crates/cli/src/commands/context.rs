//! `majordomo context`: what is added to the prompts of agents in this folder, and why something is not.

use majordomo::config::Flags;
use majordomo::instructions::{self, Instruction};
use majordomo::skills::{self, Skill};
use serde_json::{Value, json};
use view::safe;

use super::configured;
use crate::error::Failure;
use crate::out;

/// The widest that a stranger's words are shown.
const WIDE: usize = 160;
/// Bytes of a token, roughly, as everywhere in this program.
const BYTES_PER_TOKEN: usize = 4;

/// `majordomo context`.
pub fn context(flags: &Flags, json: bool, text: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let found = instructions::load(&surroundings, &config);
    let skills = skills::load(&surroundings, &config);
    let mut result = out::Result::Stdout;
    if text {
        for line in found.text.as_deref().unwrap_or_default().trim_start().lines() {
            result.line(&safe::line(line, usize::MAX))?;
        }
        return Ok(0);
    }
    let tokens = found.text.as_ref().map_or(0, |text| text.len().div_ceil(BYTES_PER_TOKEN));
    if json {
        let files: Vec<Value> = found.files.iter().map(file_object).collect();
        let skills: Vec<Value> = skills.found.iter().map(skill_object).collect();
        let object = json!({ "instructions": files, "instruction_tokens": tokens, "skills": skills });
        result.line(&object.to_string())?;
        return Ok(0);
    }
    for file in &found.files {
        let said = match &file.withheld {
            Some(why) => format!("not shown to models: {}", safe::line(why, WIDE)),
            None if file.shown_bytes < file.bytes => format!("{} of {} bytes", file.shown_bytes, file.bytes),
            None => format!("{} bytes", file.bytes),
        };
        result.line(&format!("instructions  {}  ({said})", safe::line(&file.path.to_string_lossy(), WIDE)))?;
    }
    for skill in &skills.found {
        let whose = if skill.is_of_project { "project" } else { "yours" };
        let said = format!("skill         {}: {}  ({whose})", skill.name, skill.description);
        result.line(&safe::line(&said, WIDE * 2))?;
    }
    for (path, why) in &skills.broken {
        out::note(&format!("warning: {}: {}", safe::line(&path.to_string_lossy(), WIDE), safe::line(why, WIDE)));
    }
    if found.files.is_empty() && skills.found.is_empty() {
        out::note("nothing is added to prompts here: there are no instruction files and no skills");
    } else if tokens > 0 {
        let whom = if config.instructions.sub_agents { "every agent" } else { "root agents" };
        result.line(&format!("about {tokens} tokens of instructions for {whom}"))?;
    }
    Ok(0)
}

fn file_object(file: &Instruction) -> Value {
    json!({
        "id": file.path,
        "project": file.is_of_project,
        "bytes": file.bytes,
        "shown_bytes": file.shown_bytes,
        "withheld": file.withheld,
    })
}

fn skill_object(skill: &Skill) -> Value {
    json!({
        "id": skill.name,
        "description": skill.description,
        "folder": skill.folder,
        "project": skill.is_of_project,
        "trusted": skill.is_trusted,
    })
}
