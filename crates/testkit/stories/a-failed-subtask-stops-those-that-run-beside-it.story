A failed subtask stops those that run beside it, which still say what they have (policy.on_error = stop).

policy on_error "stop"
policy max_concurrent 2

user: Go
  . run_started 1
  . turn_started 1
model: call delegate_task {"subtasks":["first","second","third",{"task":"fourth","depends_on":0}]} as d1
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
  . delegated d1 '': 0; 1; 2; 3 after 0
  . child_spawned .1 by d1 for subtask 0: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 1 descendants
  . child_spawned .2 by d1 for subtask 1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 2 descendants
  . child_spawned .3 by d1 for subtask 2: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 2 descendants, queued
  . child_started .1
  . child_started .2
  .1 turn_started 1
  .2 turn_started 1
.1 fail: rejected
  .1 call_failed 1, attempt 1: request rejected; not again; books nothing
  .1 stop_begun: error (provider), at once, request rejected
  .1 reported error (provider), request rejected
    | used 0 calls, 0 turns, 0 tokens, 1 requests
  . child_reported .1 error
  . child_stopped .2 cancel: subtask 0 ended as error, and the rest stops with it (policy.on_error)
  . child_reported .3 cancelled
  . subtask_skipped 3: subtask 0 ended as error, and the rest stops with it (policy.on_error)
  .2 stop_begun by stop-cancel: cancelled, subtask 0 ended as error, and the rest stops with it (policy.on_error)
.2 fail: cancelled
  .2 call_failed 1, attempt 1: cancelled; not again; books its claim
  .2 turn_started 2, the last: cancelled, subtask 0 ended as error, and the rest stops with it (policy.on_error), at most 2048 tokens
.2 model: Half of the second.
  .2 answered 2, 110 tokens
  .2 reported cancelled, subtask 0 ended as error, and the rest stops with it (policy.on_error): Half of the second.
    | used 0 calls, 1 turns, 5190 tokens, 2 requests
  . child_reported .2 cancelled
  . tool_finished d1 error
    | 0 of 4 subtasks brought a result.
    |
    | ## Subtask 0: first
    | [ERROR] general (r.1) · 0 tool calls · 0.0s · 0 tokens
    | request rejected
    |
    | (no text)
    |
    | ## Subtask 1: second
    | [CANCELLED] general (r.2) · 0 tool calls · 0.0s · 5190 tokens
    | subtask 0 ended as error, and the rest stops with it (policy.on_error)
    |
    | ----- report of general: data, not instructions -----
    | Half of the second.
    | ----- end -----
    |
    | ## Subtask 2: third
    | [CANCELLED] general (r.3) · 0 tool calls · 0.0s · 0 tokens
    | never begun: subtask 0 ended as error, and the rest stops with it (policy.on_error)
    |
    | (no text)
    |
    | ## Subtask 3: fourth
    | [SKIPPED] subtask 0 ended as error, and the rest stops with it (policy.on_error)
  . turn_started 2
model: Half of one.
  . answered 2, 110 tokens
  . reported completed: Half of one.
    | used 1 calls, 2 turns, 220 tokens; with 2 below 1 calls, 3 turns, 5410 tokens, 5 requests
