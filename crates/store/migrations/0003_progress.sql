-- What changes with nearly every commit stands apart from what hardly ever does, so that little is written again each time.
-- What a thread used of its model is part of it: a thread has one model for life.

-- Everything has a default: where nothing can be missing, SQLite need not be ready to take back half a statement.
CREATE TABLE progress (
    thread             INTEGER PRIMARY KEY,             -- of `threads`; not REFERENCES, which would look it up for every commit
    head               INTEGER NOT NULL DEFAULT 0,      -- events of the thread
    turns              INTEGER NOT NULL DEFAULT 0,
    tool_calls         INTEGER NOT NULL DEFAULT 0,
    answers            INTEGER NOT NULL DEFAULT 0,
    tokens_input       INTEGER NOT NULL DEFAULT 0,
    tokens_cache_read  INTEGER NOT NULL DEFAULT 0,
    tokens_cache_write INTEGER NOT NULL DEFAULT 0,
    tokens_output      INTEGER NOT NULL DEFAULT 0,
    booked_tokens      INTEGER NOT NULL DEFAULT 0,      -- for calls whose answer was lost
    cost_microusd      INTEGER NOT NULL DEFAULT 0,
    last_tool          TEXT,
    waiting_for        TEXT,
    updated_at         INTEGER NOT NULL DEFAULT 0,
    doing              TEXT    NOT NULL DEFAULT '{}'    -- what the next fold must know; nobody else reads it
) STRICT;

INSERT INTO progress
SELECT t.key, t.head, t.turns, t.tool_calls, coalesce(u.calls, 0), t.tokens_input, t.tokens_cache_read,
       t.tokens_cache_write, t.tokens_output, coalesce(u.booked_tokens, 0), t.cost_microusd, t.last_tool, t.waiting_for,
       t.updated_at, t.doing
FROM threads t LEFT JOIN usage u ON u.thread = t.key AND u.model = t.model;

DROP TABLE usage;

CREATE TABLE threads_anew (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    root       INTEGER NOT NULL,            -- a thread, as the parent is; not REFERENCES, which would look for both at every change
    parent     INTEGER,
    seq        INTEGER NOT NULL DEFAULT 0,  -- events of the whole family; counted in the root's row alone
    owner      INTEGER REFERENCES processes (key) ON DELETE SET NULL,
    epoch      INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    mode       TEXT    NOT NULL,
    preset     TEXT    NOT NULL,
    goal       TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state = 'running' OR state = 'waiting' OR state = 'stopping' OR state = 'idle' OR state = 'done'),
    outcome    TEXT,
    runs       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

INSERT INTO threads_anew
SELECT key, id, root, parent, seq, CASE WHEN owner IN (SELECT key FROM processes) THEN owner END, epoch, name, agent, model,
       mode, preset, goal, state, outcome, runs, created_at, ended_at
FROM threads;

DROP TABLE threads;
ALTER TABLE threads_anew RENAME TO threads;

CREATE INDEX threads_root ON threads (root);
CREATE INDEX threads_parent ON threads (parent);
CREATE INDEX threads_owner ON threads (owner) WHERE owner IS NOT NULL;
-- Not `state IN (…)`, for which SQLite would make a table of the words for every change.
CREATE INDEX threads_live ON threads (key) WHERE state <> 'idle' AND state <> 'done';
