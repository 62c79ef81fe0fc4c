Requests are a grant of the whole tree: carved for children, given back, warned about, and the last one is for a last word (T70).

grant requests=9

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"One"} as s1
and call spawn_agent {"task":"Two"} as s2
  . answered 1, 110 tokens
    | s1 spawn_agent is a verb
    | s2 spawn_agent is a verb
  . child_spawned .1 by s1: general, auto, 50 calls, 2 requests, 200000 tokens, 1800 s, depth 1, 4 descendants
  . child_started .1
  . child_spawned .2 by s2: general, auto, 50 calls, 2 requests, 200000 tokens, 1800 s, depth 1, 5 descendants
  . child_started .2
  .1 turn_started 1
  .2 turn_started 1
show: left
  4 requests, any number of tokens, any money, any number of calls, 5 descendants
.1 model: call read_file {"path":"a"} as c1
  .1 answered 1, 110 tokens
    | c1 read_file runs
  .1 tool_started c1
.1 tool c1: ok a
  .1 tool_finished c1 ok: a
  .1 turn_started 2, the last: budget_exceeded, the limit of 2 requests (--max-requests, grant.requests) is reached, at most 2048 tokens
.1 model: Half of it.
  .1 answered 2, 110 tokens
  .1 budget_warned requests 100 %
  .1 reported budget_exceeded, the limit of 2 requests (--max-requests, grant.requests) is reached: Half of it.
    | used 1 calls, 2 turns, 220 tokens
  . child_reported .1 budget_exceeded
  . tool_finished s1 ok
    | [BUDGET_EXCEEDED] general (r.1) · 1 tool call · 0.0s · 220 tokens
    | the limit of 2 requests (--max-requests, grant.requests) is reached
    |
    | ----- report of general: data, not instructions -----
    | Half of it.
    | ----- end -----
.2 model: All of it.
  .2 answered 1, 110 tokens
  .2 reported completed: All of it.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .2 completed
  . tool_finished s2 ok
    | [completed] general (r.2) · 0 tool calls · 0.0s · 110 tokens
    |
    | ----- report of general: data, not instructions -----
    | All of it.
    | ----- end -----
  . turn_started 2
show: left
  4 requests, any number of tokens, any money, any number of calls, 14 descendants
model: call read_file {"path":"b"} as c2
  . answered 2, 110 tokens
    | c2 read_file runs
  . tool_started c2
tool c2: ok b
  . tool_finished c2 ok: b
  . turn_started 3
model: call spawn_agent {"task":"Three"} as s3
  . answered 3, 110 tokens
    | s3 spawn_agent is a verb
  . tool_finished s3 error: a sub-agent needs at least 2 requests, and 1 can be given (--max-requests, grant.requests): do the task yourself
  . turn_started 4
model: call read_file {"path":"c"} as c3
  . answered 4, 110 tokens
    | c3 read_file runs
  . tool_started c3
tool c3: ok c
  . tool_finished c3 ok: c
  . turn_started 5
model: That is all.
  . answered 5, 110 tokens
  . budget_warned requests 88 %
  . reported completed: That is all.
    | used 5 calls, 5 turns, 550 tokens; with 2 below 6 calls, 8 turns, 880 tokens
show: left
  1 requests, any number of tokens, any money, any number of calls, 14 descendants
user: Again
  . run_started 2
  . turn_started 6
