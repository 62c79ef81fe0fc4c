A child of opta never asks the person (OPTA-17).

preset opta

show: tools
  ask_user, edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task
user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Ask"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 15 calls, 8192 tokens, 60 s, depth 1, 2147483647 descendants
  . child_started .1
  .1 turn_started 1
.1 show: tools
  edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task
.1 model: call ask_user {"question":"May I?"} as a1
  .1 answered 1, 110 tokens
    | a1 ask_user refused: ask_user is not permitted to you. Your tools: edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task
  .1 turn_started 2
.1 model: I did not ask.
  .1 answered 2, 110 tokens (10 counted)
  .1 reported completed: I did not ask.
    | used 1 calls, 2 turns, 120 tokens
  . child_reported .1 completed
  . tool_finished c1 ok
    | [completed] general (r.1) · 1 tool call · 0.0s · 220 tokens
    |
    | ----- report of general: data, not instructions -----
    | I did not ask.
    | ----- end -----
  . turn_started 2
model: Good.
  . answered 2, 110 tokens (10 counted)
  . reported completed: Good.
    | used 1 calls, 2 turns, 120 tokens; with 1 below 2 calls, 4 turns, 240 tokens
