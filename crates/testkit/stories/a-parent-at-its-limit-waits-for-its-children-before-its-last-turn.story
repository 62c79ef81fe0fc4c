A parent at its limit waits for its children before its last turn.

grant calls=1

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","background":true} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . budget_warned tool_calls 100 %
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants, in the background
  . tool_finished c1 ok: general (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  .1 turn_started 1
.1 model: Seen.
  .1 answered 1, 110 tokens
  .1 reported completed: Seen.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
  . turn_started 2, the last: budget_exceeded, the limit of 1 tool calls (max_tool_calls) is reached, at most 2048 tokens
model: It has seen.
  . answered 2, 110 tokens
  . reported budget_exceeded, the limit of 1 tool calls (max_tool_calls) is reached: It has seen.
    | used 1 calls, 2 turns, 220 tokens; with 1 below 1 calls, 3 turns, 330 tokens
