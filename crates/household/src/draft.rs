//! Drafts of mails for the owner to send, written into the drafts folder of the mailbox, where every mail program finds them.
//!
//! A draft is written in the language of the conversation, with the greeting and closing that the owner uses. Unknown details are
//! left as placeholders such as `[[date?]]` and listed in the result, never invented. There is no way to send anything here.

mod compose;
mod edit;
mod message;
mod phrases;
mod replies;
mod store;
pub(crate) mod style;
pub(crate) mod tools;

#[cfg(test)]
mod tests;

/// How the ids of the household's own drafts begin.
pub(crate) const ID: &str = "draft_";

/// What is still to be filled in.
fn placeholders(texts: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        let mut rest = *text;
        while let Some(start) = rest.find("[[") {
            let Some(end) = rest[start..].find("]]").map(|end| start + end + 2) else { break };
            let open = &rest[start..end];
            if !found.iter().any(|known| known == open) {
                found.push(open.to_owned());
            }
            rest = &rest[end..];
        }
    }
    found
}
