//! `majordomo send`: speaks to any thread, also to one that is idle or over.

use majordomo::Work;

use super::{as_begun, detach, run, staff, thread};
use crate::arguments::{Questions, Send};
use crate::consent::Asking;
use crate::error::Failure;
use crate::show::{Prepared, Show};
use crate::{out, prompt};

/// `majordomo send`.
pub async fn send(arguments: Send) -> Result<u8, Failure> {
    if arguments.detached {
        detach::leave_terminal();
    }
    let text = if arguments.detached { prompt::piped()? } else { prompt::read(Some(&arguments.text))? };
    let (surroundings, config) = as_begun(&arguments.thread, &arguments.place.flags()).await?;
    let (data, waits) = (config.data.clone(), arguments.wait || arguments.detached);
    let output = if arguments.detached { detach::silent() } else { arguments.output };
    let prepared = Prepared::new(output, &config.dialect)?;
    let asking = Asking::new(&if arguments.wait { arguments.questions } else { Questions::waiting() });
    let staff = staff(&surroundings, config, asking.options()).await?;
    let (id, row) = thread::find(&**staff.store(), &arguments.thread).await?;
    if !waits {
        let is_driven = staff.store().living(staff.runtime().clock().now()).await?.owns(&row);
        if is_driven {
            let sent = staff.session_of(&id).ask(&id, Work::new(text).unwatched()).await;
            staff.runtime().leave().await;
            sent?;
        } else {
            // The answer takes a process, which goes on when this one is over.
            staff.runtime().leave().await;
            detach::start(&data, &text)?;
        }
        out::note(&format!("sent to {id}; majordomo wait {id} prints the answer"));
        return Ok(0);
    }
    let work = Work::new(text);
    let work = if arguments.detached { work.unwatched() } else { work };
    let run = staff.session_of(&id).ask(&id, work).await?;
    if arguments.detached {
        detach::started(&id)?;
    }
    let show = Show::new(run.root().clone(), prepared, &asking, staff.runtime().clock());
    let asker = run::asker(&staff, &asking);
    run::watch(&staff, run, show, asker).await
}
