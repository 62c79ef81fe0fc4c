//! Stores drafts in a Maildir inside the mailbox, written so that no program ever sees an incomplete file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Zoned;

use super::ID;
use super::message::{Message, OURS};
use crate::error::Error;
use crate::household::Household;
use crate::mail::folder::{DRAFTS, FLAGS, Kind, places};
use crate::mail::mailbox::{Mail, Mailbox};
use crate::mail::message::MailMessage;

/// Writes a draft and says its id.
pub(super) fn create(household: &Household, message: &Message) -> Result<String, Error> {
    let Some(mailbox) = &household.options().mail else {
        return Err(Error::request("there is no mailbox to put a draft into; name one as the household's `mail`"));
    };
    if mailbox.is_file() {
        return Err(Error::request(
            "the mailbox is one file; a draft needs a folder: name the one that the file lies in",
        ));
    }
    let (folder, now) = (drafts(mailbox), household.now());
    for name in ["tmp", "new", "cur"] {
        fs::create_dir_all(folder.join(name)).map_err(Error::file(folder.join(name)))?;
    }
    for number in 1.. {
        let id = format!("{ID}{}_{number}", now.strftime("%Y%m%d"));
        let tmp = folder.join("tmp").join(&id);
        // The process that creates the file first has the number.
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&tmp) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(Error::File { path: tmp, source: error }),
        };
        if is_taken(&folder, &id) {
            fs::remove_file(&tmp).map_err(Error::file(&tmp))?;
            continue;
        }
        let written = file.write_all(message.written(&id, &now).as_bytes()).and_then(|()| file.sync_all());
        let moved = written.and_then(|()| fs::rename(&tmp, folder.join("cur").join(format!("{id}{FLAGS}DS"))));
        moved.inspect_err(|_| drop(fs::remove_file(&tmp))).map_err(Error::file(&folder))?;
        return Ok(id);
    }
    unreachable!("there is always a higher number")
}

/// Writes a draft again, unless another person did meanwhile.
pub(super) fn replace(path: &Path, before: &[u8], message: &Message, id: &str, now: &Zoned) -> Result<(), Error> {
    let tmp = path.ancestors().nth(2).unwrap_or(path).join("tmp").join(format!("{id}.{}", std::process::id()));
    fs::write(&tmp, message.written(id, now)).map_err(Error::file(&tmp))?;
    let is_same = fs::read(path).is_ok_and(|after| after == before);
    if !is_same {
        drop(fs::remove_file(&tmp));
        return Err(Error::request(format!(
            "{id} was changed by another program meanwhile; look at it again with draft_show"
        )));
    }
    fs::rename(&tmp, path).map_err(Error::file(path))
}

/// The draft that is called so, as the household wrote it.
pub(super) fn find(mailbox: &Mailbox<'_>, id: &str) -> Result<(Mail, MailMessage), Error> {
    let mail = mailbox.find(id)?;
    if mail.folder != DRAFTS {
        return Err(Error::request(format!("{} is no draft; draft_show lists the drafts there are", mail.id)));
    }
    let mail_message = mailbox.open(&mail)?;
    Ok((mail, mail_message))
}

/// Whether the household wrote a draft, and no other program since.
pub(super) fn is_ours(file: &[u8]) -> bool {
    let mark = format!("\n{OURS}: ");
    file.windows(mark.len()).take_while(|window| !window.starts_with(b"\n\n")).any(|window| window == mark.as_bytes())
}

fn drafts(mailbox: &Path) -> PathBuf {
    let known = places(mailbox).into_iter().find(|place| place.folder == DRAFTS && place.kind == Kind::Maildir);
    match known.and_then(|place| Some(place.path(mailbox).parent()?.to_path_buf())) {
        Some(folder) => folder,
        None => mailbox.join(".Drafts"),
    }
}

fn is_taken(folder: &Path, id: &str) -> bool {
    let is_same = |name: &str| name == id || name.strip_prefix(id).is_some_and(|rest| rest.starts_with(FLAGS));
    ["cur", "new"].iter().any(|part| {
        let entries = fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| is_same(&name))
    })
}
