A kill after a cancel is stronger, and a second cancel is nothing (F28).

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants
  . child_started .1
  .1 turn_started 1
stop: cancel enough
  . stop_begun by i2: cancelled, enough
  . child_stopped .1 cancel: enough
  .1 stop_begun by stop-cancel: cancelled, enough
stop: cancel enough!
  . input_dropped i3: the thread is ending already
stop: kill now
  . stop_begun by i4: cancelled, at once, now
  . child_stopped .1 kill: now
  .1 stop_begun by stop-kill: cancelled, at once, now
.1 fail: cancelled
  .1 call_failed 1, attempt 1: cancelled; not again; books its claim
  .1 reported cancelled, now
    | used 0 calls, 0 turns, 5080 tokens, 1 requests
  . child_reported .1 cancelled
  . tool_finished c1 error
    | [CANCELLED] general (r.1) · 0 tool calls · 0.0s · 5080 tokens
    | now
    |
    | (no text)
  . reported cancelled, now
    | used 1 calls, 1 turns, 110 tokens; with 1 below 1 calls, 1 turns, 5190 tokens, 2 requests
stop: cancel still
  . input_dropped i5: nothing runs in this thread
steer: hello?
  . input_dropped i6: nothing runs in this thread; send it a message instead
