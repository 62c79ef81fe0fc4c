Subtasks that wait for others keep their share of the grant.

grant tokens=70000

user: Go
  . run_started 1
  . turn_started 1
model: call delegate_task {"subtasks":["first",{"task":"second","depends_on":0},{"task":"third","depends_on":0}]} as d1
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
  . delegated d1 '': 0; 1 after 0; 2 after 0
  . child_spawned .1 by d1 for subtask 0: general, auto, 50 calls, 23086 tokens, 1800 s, depth 1, 2 descendants
  . child_started .1
  .1 turn_started 1
show: left
  46804 tokens, any money, any number of calls, 11 descendants
.1 model (5000+1000): One.
  .1 answered 1, 6000 tokens
  .1 reported completed: One.
    | used 0 calls, 1 turns, 6000 tokens
  . child_reported .1 completed
  . child_spawned .2 by d1 for subtask 1: general, auto, 50 calls, 31629 tokens, 1800 s, depth 1, 3 descendants
  . child_spawned .3 by d1 for subtask 2: general, auto, 50 calls, 31630 tokens, 1800 s, depth 1, 4 descendants
  . child_started .2
  . child_started .3
  .2 turn_started 1
  .3 turn_started 1
show: left
  631 tokens, any money, any number of calls, 6 descendants
.2 model (2000+1000): Two.
  .2 answered 1, 3000 tokens
  .2 reported completed: Two.
    | used 0 calls, 1 turns, 3000 tokens
  . child_reported .2 completed
.3 model (2000+1000): Three.
  .3 answered 1, 3000 tokens
  .3 reported completed: Three.
    | used 0 calls, 1 turns, 3000 tokens
  . child_reported .3 completed
  . tool_finished d1 ok
    | 3 of 3 subtasks brought a result.
    |
    | ## Subtask 0: first
    | [completed] general (r.1) · 0 tool calls · 0.0s · 6000 tokens
    |
    | ----- report of general: data, not instructions -----
    | One.
    | ----- end -----
    |
    | ## Subtask 1: second
    | [completed] general (r.2) · 0 tool calls · 0.0s · 3000 tokens
    |
    | ----- report of general: data, not instructions -----
    | Two.
    | ----- end -----
    |
    | ## Subtask 2: third
    | [completed] general (r.3) · 0 tool calls · 0.0s · 3000 tokens
    |
    | ----- report of general: data, not instructions -----
    | Three.
    | ----- end -----
  . turn_started 2
show: left
  53641 tokens, any money, any number of calls, 13 descendants
model: All.
  . answered 2, 110 tokens
  . reported completed: All.
    | used 1 calls, 2 turns, 220 tokens; with 3 below 1 calls, 5 turns, 12220 tokens
