The deadline of a root ends its children, who were never given longer than that.

grant time=20s

user: Go
  . run_started 1
  . turn_started 1
wait 5s
model: call spawn_agent {"task":"Look","timeout_s":600} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 600 s, over in 15 s, depth 1, 7 descendants
  . child_started .1
  .1 turn_started 1
wait 15s
  . at 20 s, stop_begun: timeout, at once, the time (timeout_s) was over after 20 s
  . at 20 s, child_stopped .1 kill: its parent ended as timeout: the time (timeout_s) was over after 20 s
  .1 at 20 s, stop_begun by stop-kill: cancelled, at once, its parent ended as timeout: the time (timeout_s) was over after 20 s
.1 fail: cancelled
  .1 call_failed 1, attempt 1: cancelled; not again; books its claim
  .1 reported cancelled, its parent ended as timeout: the time (timeout_s) was over after 20 s
    | used 0 calls, 0 turns, 5080 tokens, 1 requests; in 15 s
  . child_reported .1 cancelled
  . tool_finished c1 error
    | [CANCELLED] general (r.1) · 0 tool calls · 15.0s · 5080 tokens
    | its parent ended as timeout: the time (timeout_s) was over after 20 s
    |
    | (no text)
  . reported timeout, the time (timeout_s) was over after 20 s
    | used 1 calls, 1 turns, 110 tokens; with 1 below 1 calls, 1 turns, 5190 tokens, 2 requests; in 20 s
