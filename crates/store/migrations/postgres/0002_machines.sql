-- Threads that any machine may take. A thread is bound to the machine of its folder, unless none of its tools needs the folder.

ALTER TABLE threads ADD COLUMN machine TEXT;                           -- the only one that may take it; none for any
ALTER TABLE threads ADD COLUMN requires TEXT[] NOT NULL DEFAULT '{}';  -- labels that a process must have to take it
ALTER TABLE threads ADD COLUMN held BOOLEAN NOT NULL DEFAULT FALSE;    -- whether it is left to a person to go on with, and to no worker
ALTER TABLE threads ADD COLUMN asked BOOLEAN NOT NULL DEFAULT FALSE;   -- whether it rests, and has an input that begins a run

-- Threads that wait for a process, by root, so that each root has its turn.
CREATE INDEX threads_waiting ON threads (root, key) WHERE owner IS NULL AND (live OR asked) AND NOT held;
-- Threads that are driven, by root.
CREATE INDEX threads_driven ON threads (root) WHERE owner IS NOT NULL AND live;

-- What a process is to look at may be one of the thread's sub-agents.
ALTER TABLE wakes ADD COLUMN about BIGINT;

-- What was left in the middle by the release before is gone on with by a person, as it was told.
UPDATE threads SET held = TRUE WHERE live AND owner IS NULL AND parent IS NULL;
