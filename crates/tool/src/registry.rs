//! The tools of a process, by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, ToolInfo};

use crate::command::CommandHost;
use crate::tool::Tool;
use crate::{
    ask_user, edit_file, find_files, list_dir, memory, read_file, run_command, search_files, todo, write_file,
};

/// The tools of a process, by name. Which of them an agent gets is the rules' business.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<Arc<str>, Arc<dyn Tool>>,
}

impl Registry {
    /// No tools at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools of the workshop; `host` says how commands are run.
    pub fn standard(host: CommandHost) -> Self {
        Self::new()
            .with(read_file::tool())
            .with(write_file::tool())
            .with(edit_file::tool())
            .with(list_dir::tool())
            .with(find_files::tool())
            .with(search_files::tool())
            .with(run_command::tool(host))
            .with(todo::tool())
            .with(memory::tool())
            .with(ask_user::tool())
    }

    /// These tools and one more, which takes the place of one with the same name.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.insert(tool.info().name.clone(), Arc::new(tool));
        self
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// What a call would do in a workspace. Its digest names the tool, the arguments, the place and what they lead to there.
    pub fn assess(&self, workspace: &str, info: &ToolInfo, input: &Json) -> Assessment {
        let Some(tool) = self.tools.get(&info.name) else { return Assessment::of(info, input) };
        let assessment = tool.assess(input, Path::new(workspace));
        let mut hasher = blake3::Hasher::new();
        for part in [&*info.name, input.text(), workspace, &*assessment.digest] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Assessment { digest: hasher.finalize().to_hex().as_str().into(), ..assessment }
    }

    /// What the rules and the models are told about the tools.
    pub fn infos(&self) -> BTreeMap<Arc<str>, ToolInfo> {
        self.tools.iter().map(|(name, tool)| (name.clone(), tool.info().clone())).collect()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use agent::tools::{Reach, Risk};

    use super::*;

    #[test]
    fn all_advertised_words_together_stay_small() {
        let infos = Registry::standard(CommandHost::default()).infos();
        let bytes = |info: &ToolInfo| info.name.len() + info.description.len() + info.schema.text().len();
        for info in infos.values() {
            println!("{:>5} bytes {}", bytes(info), info.name);
        }
        let all: usize = infos.values().map(bytes).sum();
        println!("{all:>5} bytes in all");
        assert!(all <= 5_500, "{all} bytes are sent to the model with every request");
    }

    #[test]
    fn the_workshop_has_the_ten_tools_with_their_reach() {
        let infos = Registry::standard(CommandHost::default()).infos();
        let judged: Vec<_> = infos.values().map(|i| (&*i.name, i.reach, i.idempotent, i.risk)).collect();
        assert_eq!(
            judged,
            [
                ("ask_user", Reach::ReadOnly, true, Risk::Low),
                ("edit_file", Reach::Workspace, false, Risk::Medium),
                ("find_files", Reach::ReadOnly, true, Risk::Low),
                ("list_dir", Reach::ReadOnly, true, Risk::Low),
                ("memory", Reach::Own, false, Risk::Low),
                ("read_file", Reach::ReadOnly, true, Risk::Low),
                ("run_command", Reach::World, false, Risk::High),
                ("search_files", Reach::ReadOnly, true, Risk::Low),
                ("todo", Reach::Own, true, Risk::Low),
                ("write_file", Reach::Workspace, false, Risk::Medium),
            ]
        );
    }

    #[test]
    fn every_schema_describes_an_object_whose_required_fields_it_has() {
        for info in Registry::standard(CommandHost::default()).infos().values() {
            let schema = info.schema.value();
            assert_eq!(schema["type"], "object", "{}", info.name);
            for field in schema["required"].as_array().into_iter().flatten() {
                assert!(schema["properties"][field.as_str().unwrap()].is_object(), "{}: {field}", info.name);
            }
        }
    }
}
