-- A question of an agent (`ask_user`) is asked like an approval and answered with a text. The table is made anew, for SQLite cannot
-- change a check.

CREATE TABLE approvals_6 (
    position     INTEGER PRIMARY KEY,             -- of the event that asks
    id           TEXT    NOT NULL UNIQUE,
    root         INTEGER NOT NULL REFERENCES threads (key),
    thread       INTEGER NOT NULL REFERENCES threads (key),
    call         TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    risk         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    path         TEXT    NOT NULL,                -- the names of the agents from the root to the one that asks
    requested_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'decided', 'approved', 'answered', 'denied', 'forbidden',
                                                    'expired', 'unanswered', 'withdrawn')),
    decided_by   TEXT,                            -- the input that decided, until its owner has taken it up
    decided_at   INTEGER,
    reason       TEXT,
    answer       TEXT,                            -- what a person answered
    question     TEXT    NOT NULL                 -- all of it, as JSON
) STRICT;

INSERT INTO approvals_6 (position, id, root, thread, call, tool, risk, effect, path, requested_at, expires_at, status,
                         decided_by, decided_at, reason, question)
    SELECT position, id, root, thread, call, tool, risk, effect, path, requested_at, expires_at, status,
           decided_by, decided_at, reason, question FROM approvals;
DROP TABLE approvals;
ALTER TABLE approvals_6 RENAME TO approvals;

CREATE INDEX approvals_root ON approvals (root);
CREATE INDEX approvals_thread ON approvals (thread);
CREATE INDEX approvals_open ON approvals (position) WHERE status IN ('pending', 'decided');
