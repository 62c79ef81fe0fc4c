A parent that fails takes its children with it (F27): no orphan is left.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","background":true} as c1
and call spawn_agent {"task":"Seek","background":true} as c2
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
fail: auth
  . call_failed 2, attempt 1: not authorised; not again; books nothing
  . stop_begun: error (provider), at once, not authorised
  . child_stopped .1 kill: its parent ended as error: not authorised
  . child_stopped .2 kill: its parent ended as error: not authorised
  .1 stop_begun by stop-kill: cancelled, at once, its parent ended as error: not authorised
  .2 stop_begun by stop-kill: cancelled, at once, its parent ended as error: not authorised
.1 fail: cancelled
  .1 call_failed 1, attempt 1: cancelled; not again; books its claim
  .1 reported cancelled, its parent ended as error: not authorised
    | used 0 calls, 0 turns, 5080 tokens, 1 requests
  . child_reported .1 cancelled
.2 model: I have found it.
  .2 answered 1, 110 tokens
  .2 reported cancelled, its parent ended as error: not authorised: I have found it.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .2 cancelled
  . reported error (provider), not authorised
    | used 2 calls, 1 turns, 110 tokens, 2 requests; with 2 below 2 calls, 2 turns, 5300 tokens, 4 requests
