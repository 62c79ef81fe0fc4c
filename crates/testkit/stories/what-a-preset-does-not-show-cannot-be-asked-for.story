What a preset does not show cannot be asked for: such arguments are ignored and named (OPTA-10, OPTA-13, OPTA-40).

preset opta

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","max_tool_calls":500,"maxTokens":1000000,"model":"test/priced","tools":["ask_user"],"background":true} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 100 calls, 8192 tokens, 60 s, depth 1, 2147483647 descendants
    | narrowed: max_tool_calls was cut to 100 (policy.max_child_tool_calls)
  . child_started .1
  .1 turn_started 1
.1 model: Seen.
  .1 answered 1, 110 tokens
  .1 reported completed: Seen.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
  . tool_finished c1 ok
    | [completed] general (r.1) · 0 tool calls · 0.0s · 110 tokens
    |
    | ----- report of general: data, not instructions -----
    | Seen.
    | ----- end -----
    | (max_tool_calls was cut to 100 (policy.max_child_tool_calls))
    | (ignored arguments: tools, model, maxTokens, background)
  . turn_started 2
model: call message_agent {"agent":".1","text":"Hello"} as m1
  . answered 2, 110 tokens (10 counted)
    | m1 message_agent refused: message_agent is not permitted to you. Your tools: ask_user, edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task
  . turn_started 3
model: Good.
  . answered 3, 110 tokens (10 counted)
  . reported completed: Good.
    | used 2 calls, 3 turns, 130 tokens; with 1 below 2 calls, 4 turns, 240 tokens
