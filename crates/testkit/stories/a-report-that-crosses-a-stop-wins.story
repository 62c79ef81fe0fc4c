A report that crosses a stop wins: the child had done its work.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","background":true} as c1
and call spawn_agent {"task":"Wait","background":true} as c2
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 4 descendants, in the background
  . tool_finished c1 ok: general (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . child_spawned .2 by c2: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 5 descendants, in the background
  . tool_finished c2 ok: general (r.2) works in the background; its report reaches you by itself.
  . child_started .2
  . turn_started 2
  .1 turn_started 1
  .2 turn_started 1
.1 unheard
.1 model: All seen.
  .1 answered 1, 110 tokens
  .1 reported completed: All seen.
    | used 0 calls, 1 turns, 110 tokens
stop: kill now
  . stop_begun by i2: cancelled, at once, now
  . child_stopped .1 kill: now
  . child_stopped .2 kill: now
  .2 stop_begun by stop-kill: cancelled, at once, now
fail: cancelled
  . call_failed 2, attempt 1: cancelled; not again; books its claim
.2 fail: cancelled
  .2 call_failed 1, attempt 1: cancelled; not again; books its claim
  .2 reported cancelled, now
    | used 0 calls, 0 turns, 5080 tokens, 1 requests
  . child_reported .2 cancelled
crash
  . reopened after 0 s
  . child_reported .1 completed
  . reported cancelled, now
    | used 2 calls, 1 turns, 4271 tokens, 2 requests; with 2 below 2 calls, 2 turns, 9461 tokens, 4 requests
