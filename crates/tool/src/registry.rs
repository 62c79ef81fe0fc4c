//! The tools of a process by name, with the origin of each, and the holder that publishes a new set when tools appear or vanish.
//!
//! A [`Registry`] does not change once it is published: a call that was judged by one runs on the same one, whatever is published
//! meanwhile. Which of the tools an agent gets is decided by the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use agent::Json;
use agent::tools::{Assessment, ToolInfo};

use crate::command::CommandHost;
use crate::tool::Tool;
use crate::{
    ask_user, edit_file, find_files, list_dir, memory, read_file, run_command, search_files, todo, write_file,
};

/// Letters of a registry's digest.
const DIGEST: usize = 16;

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The tools for files, commands and notes that are part of this crate.
    BuiltIn,
    /// The tools for mail, calendar, notes and contacts of a household.
    Household,
    /// The program that embeds the library.
    Program,
    /// A server of tools, by its name.
    Server(Arc<str>),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Household => f.write_str("household"),
            Self::Program => f.write_str("embedding program"),
            Self::Server(name) => write!(f, "MCP server {name}"),
        }
    }
}

/// Two tools have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools are named '{name}' (origins: {first}, {second}): rename one, or leave one out")]
pub struct Collision {
    /// The name.
    pub name: Arc<str>,
    /// Where the tool comes from that was added first.
    pub first: Origin,
    /// Where the other one comes from.
    pub second: Origin,
}

/// A tool and its origin.
#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    origin: Origin,
    /// Whether models are not shown it in each request, and find it when they look for it.
    is_deferred: bool,
    /// Whether its description is a stranger's, which no person vouches for.
    is_foreign: bool,
}

/// A set of tools by name. It is put together by [`with`](Self::with) and [`join`](Self::join), and published by
/// [`CurrentTools`], which checks that no two tools have the same name and gives it its version.
#[derive(Clone)]
pub struct Registry {
    /// The origin of the tools that are added by [`with`](Self::with).
    origin: Origin,
    /// 0 until it is published.
    version: u64,
    /// Empty until it is published.
    digest: Arc<str>,
    tools: BTreeMap<Arc<str>, Entry>,
    /// The first name that was added twice. The tool that was there first is kept.
    collision: Option<Collision>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// No tools. Those that are added come from the embedding program.
    pub fn new() -> Self {
        Self::from_origin(Origin::Program)
    }

    /// No tools. Those that are added come from `origin`.
    pub fn from_origin(origin: Origin) -> Self {
        Self { origin, version: 0, digest: "".into(), tools: BTreeMap::new(), collision: None }
    }

    /// The built-in tools; `host` says how commands are run. Those that are added come from the embedding program.
    pub fn standard(host: CommandHost) -> Self {
        let built_in = Self::from_origin(Origin::BuiltIn)
            .with(read_file::tool())
            .with(write_file::tool())
            .with(edit_file::tool())
            .with(list_dir::tool())
            .with(find_files::tool())
            .with(search_files::tool())
            .with(run_command::tool(host))
            .with(todo::tool())
            .with(memory::tool())
            .with(ask_user::tool());
        Self::new().join(built_in)
    }

    /// These tools and one more. A second tool of the same name is an error when the registry is published.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        let (name, origin) = (tool.info().name.clone(), self.origin.clone());
        self.add(name, Entry { tool: Arc::new(tool), origin, is_deferred: false, is_foreign: false });
        self
    }

    /// The same with a tool that models are not shown in each request: they find it when they look for it.
    #[must_use]
    pub fn with_deferred(mut self, tool: impl Tool + 'static) -> Self {
        let (name, origin) = (tool.info().name.clone(), self.origin.clone());
        self.add(name, Entry { tool: Arc::new(tool), origin, is_deferred: true, is_foreign: false });
        self
    }

    /// The same with a tool whose description is a stranger's: a thread that is shown it has read untrusted text.
    #[must_use]
    pub fn with_foreign(mut self, tool: impl Tool + 'static) -> Self {
        let (name, origin) = (tool.info().name.clone(), self.origin.clone());
        self.add(name, Entry { tool: Arc::new(tool), origin, is_deferred: false, is_foreign: true });
        self
    }

    /// These tools and those of another registry, each with its own origin.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        for (name, entry) in other.tools {
            self.add(name, entry);
        }
        self.collision = self.collision.or(other.collision);
        self
    }

    /// These tools without one, for a program that replaces it by its own.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.tools.remove(name);
        self
    }

    fn add(&mut self, name: Arc<str>, entry: Entry) {
        match self.tools.get(&name) {
            None => {
                self.tools.insert(name, entry);
            }
            Some(there) => {
                let collision = Collision { name, first: there.origin.clone(), second: entry.origin };
                self.collision.get_or_insert(collision);
            }
        }
    }

    /// The number of this registry among those that were published; 0 for one that was not.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Names what models are told about the tools of a published registry: the same name means the same tools with the same
    /// descriptions and schemas, in any process.
    pub fn digest(&self) -> &Arc<str> {
        &self.digest
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        Some(&self.tools.get(name)?.tool)
    }

    /// Where a tool comes from.
    pub fn origin(&self, name: &str) -> Option<Origin> {
        Some(self.tools.get(name)?.origin.clone())
    }

    /// The tools that models are not shown in each request.
    pub fn deferred(&self) -> BTreeSet<Arc<str>> {
        self.tools.iter().filter(|(_, entry)| entry.is_deferred).map(|(name, _)| name.clone()).collect()
    }

    /// The tools that are shown to models in a stranger's words.
    pub fn foreign(&self) -> BTreeSet<Arc<str>> {
        self.tools.iter().filter(|(_, entry)| entry.is_foreign).map(|(name, _)| name.clone()).collect()
    }

    /// The tools of servers, each with the name of its server.
    pub fn servers(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        let of_server = |(name, entry): (&Arc<str>, &Entry)| match &entry.origin {
            Origin::Server(server) => Some((name.clone(), server.clone())),
            Origin::BuiltIn | Origin::Household | Origin::Program => None,
        };
        self.tools.iter().filter_map(of_server).collect()
    }

    /// What a call would do in a workspace. Its digest names the tool, the arguments, the place and what they lead to there.
    pub fn assess(&self, workspace: &str, info: &ToolInfo, input: &Json) -> Assessment {
        let Some(tool) = self.get(&info.name) else { return Assessment::of(info, input) };
        let assessment = tool.assess(input, Path::new(workspace));
        let mut hasher = blake3::Hasher::new();
        for part in [&*info.name, input.text(), workspace, &*assessment.digest] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Assessment { digest: hasher.finalize().to_hex().as_str().into(), ..assessment }
    }

    /// Whether [`assess`](Self::assess) takes no more than a moment for a call of this tool, in a workspace on a disk of this machine.
    pub fn assesses_at_once(&self, name: &str) -> bool {
        self.get(name).is_none_or(|tool| tool.assesses_at_once())
    }

    /// What the rules and the models are told about the tools.
    pub fn infos(&self) -> BTreeMap<Arc<str>, ToolInfo> {
        self.tools.iter().map(|(name, entry)| (name.clone(), entry.tool.info().clone())).collect()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origins = self.tools.iter().map(|(name, entry)| (name, &entry.origin));
        write!(f, "version {} ", self.version)?;
        f.debug_map().entries(origins).finish()
    }
}

/// The registry that is in force in a process. Cheap to clone; all clones see what one of them publishes.
///
/// The code that decides on a call takes a [`snapshot`](Self::snapshot) and runs the call on that one.
#[derive(Clone, Debug)]
pub struct CurrentTools(Arc<RwLock<Arc<Registry>>>);

impl Default for CurrentTools {
    /// No tools, as version 1.
    fn default() -> Self {
        Self::new(Registry::new()).expect("no two of no tools have the same name")
    }
}

impl CurrentTools {
    /// Publishes the first registry of a process, as version 1.
    pub fn new(registry: Registry) -> Result<Self, Collision> {
        Ok(Self(Arc::new(RwLock::new(Arc::new(numbered(registry, 1)?)))))
    }

    /// The registry that is in force.
    pub fn snapshot(&self) -> Arc<Registry> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the registry that is in force, and returns the new version. With a collision of names nothing changes.
    pub fn publish(&self, registry: Registry) -> Result<u64, Collision> {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let version = current.version + 1;
        *current = Arc::new(numbered(registry, version)?);
        Ok(version)
    }
}

fn numbered(mut registry: Registry, version: u64) -> Result<Registry, Collision> {
    match registry.collision.take() {
        Some(collision) => Err(collision),
        None => Ok(Registry { version, digest: digest_of(&registry), ..registry }),
    }
}

/// Names what models are told about the tools of a registry.
pub fn digest_of(registry: &Registry) -> Arc<str> {
    let mut hasher = blake3::Hasher::new();
    for entry in registry.tools.values() {
        let info = entry.tool.info();
        let mut judged = format!("{:?}", (info.reach, info.idempotent, info.risk));
        if entry.is_deferred {
            judged.push_str(" deferred");
        }
        if entry.is_foreign {
            judged.push_str(" foreign");
        }
        for part in [&*info.name, &*info.description, info.schema.text(), &judged] {
            // With its length before it, no part can pass for another.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex()[..DIGEST].into()
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
    fn the_ten_built_in_tools_have_their_reach() {
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

    /// A tool that answers with a number.
    fn numbered_tool(name: &str, number: u32) -> impl Tool + 'static {
        struct Numbered(ToolInfo, u32);
        impl Tool for Numbered {
            fn info(&self) -> &ToolInfo {
                &self.0
            }

            fn run<'a>(
                &'a self,
                _: &'a Json,
                _: &'a crate::ToolContext,
            ) -> futures_util::future::BoxFuture<'a, agent::tools::ToolResult> {
                Box::pin(async { agent::tools::ToolResult::ok(self.1.to_string()) })
            }
        }
        Numbered(crate::info(name, "", r#"{"type": "object"}"#, Reach::ReadOnly, true, Risk::Low), number)
    }

    async fn answer(registry: &Registry, name: &str) -> Option<String> {
        let room = crate::tool::test_support::TestWorkspace::with(&[]);
        Some(registry.get(name)?.run(&Json::object(), &room.context).await.content.to_string())
    }

    #[test]
    fn each_tool_has_the_origin_of_the_part_that_added_it() {
        let household = Registry::from_origin(Origin::Household).with(numbered_tool("find_mail", 1));
        let all = Registry::standard(CommandHost::default()).join(household).with(numbered_tool("read_thermometer", 1));
        assert_eq!(all.origin("read_file"), Some(Origin::BuiltIn));
        assert_eq!(all.origin("find_mail"), Some(Origin::Household));
        assert_eq!(all.origin("read_thermometer"), Some(Origin::Program));
        assert_eq!(all.origin("find_stars"), None);
    }

    #[test]
    fn two_tools_of_one_name_are_refused_with_both_origins() {
        let registry = Registry::standard(CommandHost::default()).with(numbered_tool("read_file", 1));
        let error = CurrentTools::new(registry).unwrap_err();
        assert_eq!((&error.first, &error.second), (&Origin::BuiltIn, &Origin::Program));
        assert_eq!(
            error.to_string(),
            "two tools are named 'read_file' (origins: built in, embedding program): rename one, or leave one out"
        );

        let household = Registry::from_origin(Origin::Household).with(numbered_tool("find_mail", 1));
        let joined = Registry::new().with(numbered_tool("find_mail", 2)).join(household);
        let error = CurrentTools::new(joined).unwrap_err();
        assert_eq!((&*error.name, &error.first, &error.second), ("find_mail", &Origin::Program, &Origin::Household));

        let replaced =
            Registry::standard(CommandHost::default()).without("read_file").with(numbered_tool("read_file", 1));
        let current = CurrentTools::new(replaced).expect("the built-in tool was left out");
        assert_eq!(current.snapshot().origin("read_file"), Some(Origin::Program));
    }

    #[tokio::test]
    async fn a_snapshot_stays_as_it_is_when_another_is_published() {
        let current = CurrentTools::new(Registry::new().with(numbered_tool("count", 1))).unwrap();
        let before = current.snapshot();

        assert_eq!(current.clone().publish(Registry::new().with(numbered_tool("count", 2))), Ok(2));
        let between = current.snapshot();
        assert_eq!(current.publish(Registry::new()), Ok(3));
        let after = current.snapshot();

        assert_eq!([before.version(), between.version(), after.version()], [1, 2, 3]);
        assert_eq!(answer(&before, "count").await.as_deref(), Some("1"));
        assert_eq!(answer(&between, "count").await.as_deref(), Some("2"));
        assert_eq!(answer(&after, "count").await, None);
    }

    #[test]
    fn a_refused_registry_leaves_the_old_one_in_force() {
        let current = CurrentTools::new(Registry::new().with(numbered_tool("count", 1))).unwrap();
        let twice = Registry::new().with(numbered_tool("count", 1)).with(numbered_tool("count", 2));
        assert!(current.publish(twice).is_err());
        assert_eq!(current.snapshot().version(), 1);
    }
}
