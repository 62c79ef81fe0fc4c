An empty answer is no output, never a success (promise 1, F21).
Thinking alone is no word either.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants
  . child_started .1
  .1 turn_started 1
.1 model: nothing
  .1 answered 1, 110 tokens
  .1 reported no_output, the agent ended without a word
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 no_output
  . tool_finished c1 error
    | [NO_OUTPUT] general (r.1) · 0 tool calls · 0.0s · 110 tokens
    | the agent ended without a word
    |
    | (no text)
  . turn_started 2
model: nothing
and thinking
  . answered 2, 110 tokens
  . reported no_output, the agent ended without a word
    | used 1 calls, 2 turns, 220 tokens; with 1 below 1 calls, 3 turns, 330 tokens
