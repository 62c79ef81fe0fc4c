A child whose provider is gone reports an error, and its parent goes on (OPTA-26, OPTA-30, OPTA-44).

preset opta

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Go"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 15 calls, 8192 tokens, 60 s, depth 1, 2147483647 descendants
  . child_started .1
  .1 turn_started 1
.1 fail: auth
  .1 call_failed 1, attempt 1: not authorised; not again; books nothing
  .1 stop_begun: error (provider), at once, not authorised
  .1 reported error (provider), not authorised
    | used 0 calls, 0 turns, 0 tokens, 1 requests
  . child_reported .1 error
  . tool_finished c1 error
    | [ERROR] general (r.1) · 0 tool calls · 0.0s · 0 tokens
    | not authorised
    |
    | (no text)
  . turn_started 2
model: It failed.
  . answered 2, 110 tokens (10 counted)
  . reported completed: It failed.
    | used 1 calls, 2 turns, 120 tokens; with 1 below 1 calls, 2 turns, 120 tokens, 3 requests
