-- A thread's state is one of the nine words of the `state` event. It changes with nearly every commit, so it is kept with the
-- progress of the thread. Whether the thread is live changes rarely and is indexed.

ALTER TABLE progress ADD COLUMN state TEXT NOT NULL DEFAULT 'idle'
    CHECK (state = 'processing' OR state = 'waiting_for_tool' OR state = 'delegating' OR state = 'initializing' OR state = 'idle'
        OR state = 'waiting_for_user' OR state = 'completing' OR state = 'error' OR state = 'loading_context');
ALTER TABLE threads ADD COLUMN live INTEGER NOT NULL DEFAULT 0;

UPDATE threads SET live = 1 WHERE state <> 'idle' AND state <> 'done';

-- `doing` did not say how far the run is.
UPDATE progress SET
    state = CASE
        WHEN t.live = 0 AND t.outcome IN ('no_output', 'timeout', 'refused', 'interrupted', 'error') THEN 'error'
        WHEN t.live = 0 THEN 'idle'
        WHEN t.state = 'stopping' THEN 'completing'
        WHEN progress.doing ->> '$.questions' > 0 THEN 'waiting_for_user'
        WHEN EXISTS (SELECT 1 FROM json_each(progress.doing, '$.calls') c WHERE c.value ->> '$.started') THEN 'waiting_for_tool'
        WHEN progress.doing ->> '$.asking' IS NULL AND t.state = 'waiting' THEN 'delegating'
        WHEN progress.turns = 0 THEN 'initializing'
        ELSE 'processing'
    END,
    doing = CASE
        WHEN t.live = 1 AND progress.turns = 0 THEN json_set(progress.doing, '$.phase', 'begun')
        WHEN t.live = 1 THEN json_set(progress.doing, '$.phase', 'turn')
        WHEN t.outcome IS NOT NULL THEN json_set(progress.doing, '$.phase', json_object('over', t.outcome))
        ELSE progress.doing
    END
FROM threads t WHERE t.key = progress.thread;

DROP INDEX threads_live;
ALTER TABLE threads DROP COLUMN state;
CREATE INDEX threads_live ON threads (key) WHERE live = 1;
