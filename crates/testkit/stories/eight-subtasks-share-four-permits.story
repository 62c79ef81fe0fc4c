Eight subtasks share four permits, and their results stand in the order of the tasks (OPTA-5, OPTA-45, INV-3).
Nobody begins before another has reported.

user: Go
  . run_started 1
  . turn_started 1
model: call delegate_task {"subtasks":["t0","t1","t2","t3","t4","t5","t6","t7"]} as d1
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
  . delegated d1 '': 0; 1; 2; 3; 4; 5; 6; 7
  . child_spawned .1 by d1 for subtask 0: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 0 descendants
  . child_spawned .2 by d1 for subtask 1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 0 descendants
  . child_spawned .3 by d1 for subtask 2: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 0 descendants
  . child_spawned .4 by d1 for subtask 3: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 0 descendants
  . child_spawned .5 by d1 for subtask 4: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 0 descendants, queued
  . child_spawned .6 by d1 for subtask 5: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 1 descendants, queued
  . child_spawned .7 by d1 for subtask 6: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 1 descendants, queued
  . child_spawned .8 by d1 for subtask 7: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 2 descendants, queued
  . child_started .1
  . child_started .2
  . child_started .3
  . child_started .4
  .1 turn_started 1
  .2 turn_started 1
  .3 turn_started 1
  .4 turn_started 1
.4 model: r3
  .4 answered 1, 110 tokens
  .4 reported completed: r3
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .4 completed
  . child_started .5
  .5 turn_started 1
.3 model: r2
  .3 answered 1, 110 tokens
  .3 reported completed: r2
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .3 completed
  . child_started .6
  .6 turn_started 1
.5 model: r4
  .5 answered 1, 110 tokens
  .5 reported completed: r4
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .5 completed
  . child_started .7
  .7 turn_started 1
.1 model: r0
  .1 answered 1, 110 tokens
  .1 reported completed: r0
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
  . child_started .8
  .8 turn_started 1
.8 model: r7
  .8 answered 1, 110 tokens
  .8 reported completed: r7
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .8 completed
.6 model: r5
  .6 answered 1, 110 tokens
  .6 reported completed: r5
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .6 completed
.7 model: r6
  .7 answered 1, 110 tokens
  .7 reported completed: r6
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .7 completed
.2 model: r1
  .2 answered 1, 110 tokens
  .2 reported completed: r1
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .2 completed
  . tool_finished d1 ok
    | 8 of 8 subtasks brought a result.
    |
    | ## Su… (1257 characters)
  . turn_started 2
model: Eight.
  . answered 2, 110 tokens
  . reported completed: Eight.
    | used 1 calls, 2 turns, 220 tokens; with 8 below 1 calls, 10 turns, 1100 tokens
