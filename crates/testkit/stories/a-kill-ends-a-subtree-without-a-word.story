A kill ends a subtree without a word: no model is asked any more, and every end is still reported.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"One down"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants
  . child_started .1
  .1 turn_started 1
.1 model: call spawn_agent {"task":"Two down"} as c2
  .1 answered 1, 110 tokens
    | c2 spawn_agent is a verb
  .1 child_spawned .1.1 by c2: general, auto, 50 calls, 199259 tokens, 1800 s, over in 1800 s, depth 0, 0 descendants
  .1 child_started .1.1
  .1.1 turn_started 1
stop: kill at once
  . stop_begun by i2: cancelled, at once, at once
  . child_stopped .1 kill: at once
  .1 stop_begun by stop-kill: cancelled, at once, at once
  .1 child_stopped .1.1 kill: at once
  .1.1 stop_begun by stop-kill: cancelled, at once, at once
.1.1 fail: cancelled
  .1.1 call_failed 1, attempt 1: cancelled; not again; books its claim
  .1.1 reported cancelled, at once
    | used 0 calls, 0 turns, 4242 tokens, 1 requests
  .1 child_reported .1.1 cancelled
  .1 tool_finished c2 error
    | [CANCELLED] general (r.1.1) · 0 tool calls · 0.0s · 4242 tokens
    | at once
    |
    | (no text)
  .1 reported cancelled, at once
    | used 1 calls, 1 turns, 110 tokens; with 1 below 1 calls, 1 turns, 4352 tokens, 2 requests
  . child_reported .1 cancelled
  . tool_finished c1 error
    | [CANCELLED] general (r.1) · 1 tool call · 0.0s · 4352 tokens
    | at once
    |
    | (no text)
  . reported cancelled, at once
    | used 1 calls, 1 turns, 110 tokens; with 2 below 2 calls, 2 turns, 4462 tokens, 3 requests
show: talk
  user <person>: Go
  assistant calls spawn_agent {"task":"One down"} as c1
  user <result of c1, an error>
    | [CANCELLED] general (r.1) · 1 tool call · 0.0s · 4352 tokens
    | at once
    |
    | (no text)
