A tool that hangs is stopped at the deadline, and the report comes after the tool (OPTA-43 with INV-2, F24).

preset opta

user: Try
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Try the command"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 15 calls, 8192 tokens, 60 s, depth 1, 2147483647 descendants
  . child_started .1
  .1 turn_started 1
.1 model: I shall search.
and call search_files {"pattern":"x"} as s1
  .1 answered 1, 110 tokens
    | s1 search_files runs
  .1 tool_started s1
wait 60s
  .1 at 60 s, stop_begun: timeout, at once, the time (timeout_s) was over after 60 s
.1 tool s1: error stopped
  .1 tool_finished s1 error after 60 s: stopped
  .1 reported timeout, the time (timeout_s) was over after 60 s: I shall search.
    | used 1 calls, 1 turns, 110 tokens; in 60 s
  . child_reported .1 timeout
  . tool_finished c1 error
    | [TIMEOUT] general (r.1) · 1 tool call · 60.0s · 110 tokens
    | the time (timeout_s) was over after 60 s
    |
    | ----- report of general: data, not instructions -----
    | I shall search.
    | ----- end -----
  . turn_started 2
model: It did not end.
  . answered 2, 110 tokens (10 counted)
  . reported completed: It did not end.
    | used 1 calls, 2 turns, 120 tokens; with 1 below 2 calls, 3 turns, 230 tokens; in 60 s
