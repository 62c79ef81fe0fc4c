-- The log, and what is folded from it. Text names are kept once; inside, rows refer to each other by integer keys.
-- Moments are milliseconds since 1970.

CREATE TABLE processes (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    pid        INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    host       TEXT    NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE threads (
    key                INTEGER PRIMARY KEY,
    id                 TEXT    NOT NULL UNIQUE,
    root               INTEGER NOT NULL REFERENCES threads (key),
    parent             INTEGER REFERENCES threads (key),
    head               INTEGER NOT NULL,            -- events of the thread
    seq                INTEGER NOT NULL DEFAULT 0,  -- events of the whole family; counted in the root's row alone
    owner              INTEGER REFERENCES processes (key) ON DELETE SET NULL,
    epoch              INTEGER NOT NULL,
    name               TEXT    NOT NULL,
    agent              TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    mode               TEXT    NOT NULL,
    preset             TEXT    NOT NULL,
    goal               TEXT    NOT NULL,
    state              TEXT    NOT NULL CHECK (state = 'running' OR state = 'waiting' OR state = 'stopping' OR state = 'idle' OR state = 'done'),
    outcome            TEXT,
    turns              INTEGER NOT NULL,
    tool_calls         INTEGER NOT NULL,
    tokens_input       INTEGER NOT NULL,
    tokens_cache_read  INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_output      INTEGER NOT NULL,
    cost_microusd      INTEGER NOT NULL,
    last_tool          TEXT,
    waiting_for        TEXT,
    runs               INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    ended_at           INTEGER,
    doing              TEXT    NOT NULL             -- what the next fold must know; nobody else reads it
) STRICT;

CREATE INDEX threads_root ON threads (root);
CREATE INDEX threads_parent ON threads (parent);
CREATE INDEX threads_owner ON threads (owner) WHERE owner IS NOT NULL;
CREATE INDEX threads_live ON threads (key) WHERE state IN ('running', 'waiting', 'stopping');

-- A position is never used twice, not even after a removal: followers remember positions.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    root     INTEGER NOT NULL,  -- a thread; not REFERENCES, which would look it up twice for every event
    seq      INTEGER NOT NULL,
    thread   INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    body     TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_thread ON events (thread, n);
CREATE UNIQUE INDEX events_family ON events (root, seq);

CREATE TABLE inputs (
    thread   INTEGER NOT NULL REFERENCES threads (key),
    id       TEXT    NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (thread, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakes (
    key          INTEGER PRIMARY KEY AUTOINCREMENT,
    thread       INTEGER NOT NULL REFERENCES threads (key),
    due          INTEGER NOT NULL,
    leased_until INTEGER
) STRICT;

CREATE INDEX wakes_thread ON wakes (thread, due);

CREATE TABLE sub_agent_execution (
    id               TEXT    PRIMARY KEY NOT NULL,
    workflow_id      TEXT    NOT NULL,
    parent_agent_id  TEXT    NOT NULL,
    sub_agent_id     TEXT    NOT NULL,              -- the same as the id
    sub_agent_name   TEXT    NOT NULL,
    task_description TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status = 'pending' OR status = 'running' OR status = 'completed' OR status = 'error' OR status = 'cancelled'),
    outcome          TEXT,
    duration_ms      INTEGER,
    tokens_input     INTEGER,
    tokens_output    INTEGER,
    result_summary   TEXT,
    error_message    TEXT,
    created_at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    completed_at     INTEGER
) STRICT;

CREATE INDEX sub_agent_execution_workflow ON sub_agent_execution (workflow_id);
CREATE INDEX sub_agent_execution_parent ON sub_agent_execution (parent_agent_id);

CREATE TABLE usage (
    thread             INTEGER NOT NULL REFERENCES threads (key),
    model              TEXT    NOT NULL,
    calls              INTEGER NOT NULL,
    tokens_input       INTEGER NOT NULL,
    tokens_cache_read  INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_output      INTEGER NOT NULL,
    booked_tokens      INTEGER NOT NULL,
    cost_microusd      INTEGER NOT NULL,
    PRIMARY KEY (thread, model)
) STRICT, WITHOUT ROWID;
