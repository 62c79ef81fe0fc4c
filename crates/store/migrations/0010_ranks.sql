-- Each status has its own order, and all tasks are listed by merging them: a task that moves changes one index less.

DROP INDEX tasks_rank;
