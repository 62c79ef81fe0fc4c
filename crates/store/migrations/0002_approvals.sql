-- Questions to people, folded from the log of the thread that asks. A log that was written under the schema before holds none:
-- nobody could be asked then.

CREATE TABLE approvals (
    position     INTEGER PRIMARY KEY,             -- of the event that asks
    id           TEXT    NOT NULL UNIQUE,
    root         INTEGER NOT NULL REFERENCES threads (key),
    thread       INTEGER NOT NULL REFERENCES threads (key),
    call         TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    risk         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    path         TEXT    NOT NULL,                -- the names of the agents from the root to the one who asks
    requested_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'decided', 'approved', 'denied', 'forbidden', 'expired',
                                                    'unanswered', 'withdrawn')),
    decided_by   TEXT,                            -- the input that decided, until its owner has taken it up
    decided_at   INTEGER,
    reason       TEXT,
    question     TEXT    NOT NULL                 -- all of it, as JSON
) STRICT;

CREATE INDEX approvals_root ON approvals (root);
CREATE INDEX approvals_thread ON approvals (thread);
CREATE INDEX approvals_open ON approvals (position) WHERE status IN ('pending', 'decided');
