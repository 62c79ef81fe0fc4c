//! Flags of mails, stored where all mail programs store them: in the name of the file.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::folder::FLAGS;
use super::mailbox::Mail;
use crate::error::Error;
use crate::household::Household;

/// A mark that the owner can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Flag {
    Seen,
    Flagged,
    Answered,
}

impl Flag {
    fn letter(self) -> char {
        match self {
            Self::Seen => 'S',
            Self::Flagged => 'F',
            Self::Answered => 'R',
        }
    }
}

/// Sets a mark, or takes it away, and says how the mail is marked then.
pub(crate) fn mark(household: &Household, id: &str, flag: Flag, on: bool) -> Result<Mail, Error> {
    let mailbox = household.mailbox()?;
    let mail = mailbox.find(id)?;
    let old = mailbox.path(&mail);
    let Some(maildir) = maildir(&old) else {
        let why = "is not in a Maildir, and only mail in a Maildir can be flagged";
        return Err(Error::request(format!("{} {why}", mail.id)));
    };
    let mut flags: Vec<char> = mail.flags.chars().filter(|character| *character != flag.letter()).collect();
    if on {
        flags.push(flag.letter());
    }
    // Other programs expect the letters in the order of the alphabet, and marked mail in `cur`.
    flags.sort_unstable();
    flags.dedup();
    let name = format!("{}{FLAGS}{}", mail.id, String::from_iter(&flags));
    let cur = maildir.join("cur");
    let new = cur.join(&name);
    if new != old {
        if new.exists() {
            return Err(Error::request(format!("there is another file with the name {name}; nothing was changed")));
        }
        fs::create_dir_all(&cur).map_err(Error::file(&cur))?;
        fs::rename(&old, &new).map_err(Error::file(&old))?;
    }
    drop(mailbox);
    household.mailbox()?.find(&mail.id)
}

/// The Maildir that a file lies in.
fn maildir(file: &Path) -> Option<&Path> {
    let inside = file.parent()?;
    matches!(inside.file_name()?.to_str()?, "cur" | "new").then(|| inside.parent())?
}
