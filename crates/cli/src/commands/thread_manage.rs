//! `majordomo thread rename`, `fork`, `export`, `import`, `archive`, `move` and `rm`: what people do with conversations as a whole.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use agent::message::Attachment;
use agent::{Mode, Outside, ThreadId};
use majordomo::config::Flags;
use majordomo::files::Artefacts;
use majordomo::staff::open_store;
use majordomo::threads;
use majordomo::transfer::{self, Taking};
use store::Store;

use super::{configured, thread};
use crate::arguments::Format;
use crate::error::Failure;
use crate::out;

/// `majordomo thread rename`.
pub async fn rename(name: &str, title: &str, flags: &Flags) -> Result<u8, Failure> {
    let store = open(flags)?;
    let (id, _) = thread::find(&*store, name).await?;
    threads::mark(&*store, &id, Outside::Marked { title: Some(title.into()), archived: None, read: false }, out::now())
        .await?;
    store.close().await;
    out::note(&if title.trim().is_empty() { format!("{id} has no title") } else { format!("{id} is called: {title}") });
    Ok(0)
}

/// `majordomo thread archive`.
pub async fn archive(name: &str, archived: bool, flags: &Flags) -> Result<u8, Failure> {
    let store = open(flags)?;
    let (id, _) = thread::find(&*store, name).await?;
    threads::mark(&*store, &id, Outside::Marked { title: None, archived: Some(archived), read: false }, out::now())
        .await?;
    store.close().await;
    out::note(&match archived {
        true => format!("{id} is put away; thread ls --archived lists it"),
        false => format!("{id} is in the list again"),
    });
    Ok(0)
}

/// `majordomo thread move`.
pub async fn relocate(name: &str, to: &str, flags: &Flags) -> Result<u8, Failure> {
    let from = open(flags)?;
    let root = root_of(&*from, name).await?;
    let there = match store::Address::is_one(to) {
        true => Flags { store: Some(to.to_owned()), ..flags.clone() },
        // A folder is meant, whatever store this machine uses otherwise.
        false => Flags { store: None, data: Some(to.to_owned()), ..flags.clone() },
    };
    let (_, config) = configured(&there)?;
    let place = match store::Address::is_one(to) {
        true => config.store.clone(),
        false => store::Location::folder(&config.data),
    };
    let other = majordomo::staff::open_at(&place, &config)?;
    transfer::relocate(&from, &other, &root, out::now()).await?;
    from.close().await;
    other.close().await;
    out::note(&format!("{root} is in {place} now"));
    Ok(0)
}

/// `majordomo thread rm`.
pub async fn rm(names: &[String], flags: &Flags) -> Result<u8, Failure> {
    let store = open(flags)?;
    // All are found before the first is deleted.
    let mut roots = Vec::new();
    for name in names {
        let id = store.resolve(name).await?;
        if !id.is_root() {
            let root = id.root();
            return Err(Failure::usage(format!(
                "{id} is a sub-agent; delete its conversation: majordomo thread rm {root}"
            )));
        }
        roots.push(id);
    }
    for root in roots {
        store.remove(&root, out::now()).await?;
        out::note(&format!("{root} is deleted"));
    }
    store.close().await;
    Ok(0)
}

/// `majordomo thread fork`.
pub async fn fork(name: &str, at: Option<usize>, flags: &Flags) -> Result<u8, Failure> {
    let store = open(flags)?;
    let from = store.resolve(name).await?;
    let to = loop {
        let to = fresh_id();
        if store.thread(&to).await?.is_none() {
            break to;
        }
    };
    transfer::fork(&store, &from, at, &to, out::now()).await?;
    store.close().await;
    out::Result::Stdout.line(to.as_str())?;
    Ok(0)
}

/// `majordomo thread export`.
pub async fn export(name: &str, format: Format, output: Option<&Path>, flags: &Flags) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let root = root_of(&*store, name).await?;
    let lines: Box<dyn Iterator<Item = String>> = match format {
        Format::Jsonl => {
            let export = transfer::export(&*store, &root, &Artefacts::at(&config.data)).await?;
            warn_of(&export.left_out, "written by name only: its bytes are gone, or all files together are too large");
            Box::new(export.into_lines())
        }
        Format::Md => Box::new(std::iter::once(transfer::markdown(&*store, &root).await?)),
    };
    store.close().await;
    let mut result = out::Result::open(output)?;
    for line in lines {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}

/// Names each image or document of which this is so.
fn warn_of(files: &[Attachment], what: &str) {
    for file in files {
        out::note(&format!("{} is {what}", file.name));
    }
}

/// `majordomo thread import`.
pub async fn import(file: &Path, flags: &Flags) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let unreadable = |error: std::io::Error| Failure::usage(format!("cannot read {}: {error}", file.display()));
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = std::fs::read_to_string(file).map_err(unreadable)?;
    }
    let store = open_store(&config)?;
    let folder = surroundings.cwd.canonicalize().unwrap_or_else(|_| surroundings.cwd.clone());
    let taking = Taking { workspace: folder.display().to_string().into(), mode: Mode::Ask };
    // A file that is no log of ours is told of by its line, and not by where that was found.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let imported = transfer::import(&store, &Artefacts::at(&config.data), &text, &taking, out::now()).await;
    std::panic::set_hook(hook);
    let imported = imported?;
    store.close().await;
    warn_of(&imported.missing, "named in it and not there: models are told so in its place");
    out::note(&format!("it works in {} from now on, and asks before it writes", folder.display()));
    out::Result::Stdout.line(imported.root.as_str())?;
    Ok(0)
}

fn open(flags: &Flags) -> Result<Arc<dyn Store>, Failure> {
    let (_, config) = configured(flags)?;
    Ok(open_store(&config)?)
}

/// The root that is meant; a sub-agent is copied and written with its conversation.
async fn root_of(store: &dyn Store, name: &str) -> Result<ThreadId, Failure> {
    Ok(store.resolve(name).await?.root())
}

fn fresh_id() -> ThreadId {
    let now = jiff::Timestamp::from_millisecond(out::now().0).unwrap_or_default();
    let day = now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d").to_string();
    ThreadId::new(format!("{day}-{}", runtime::short_name()))
}
