A delegation to an unknown agent starts nothing, and one in which a subtask gets too little stops with it.

policy on_error "stop"
grant tokens=20000

user: Go
  . run_started 1
  . turn_started 1
model: call delegate_task {"subtasks":[{"task":"first"},{"task":"second","agent":"nobody"}]} as d1
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
  . tool_finished d1 error: there is no agent 'nobody'; there are: explore, general, scribe
  . turn_started 2
model: call delegate_task {"subtasks":["a","b","c","d","e"]} as d2
  . answered 2, 110 tokens
    | d2 delegate_task is a verb
  . delegated d2 '': 0; 1; 2; 3; 4
  . subtask_skipped 0: a sub-agent needs at least 4096 tokens (policy.min_child_tokens), and 3829 can be given: do the task yourself
  . subtask_skipped 1: subtask 0 ended as refused, and the rest stops with it (policy.on_error)
  . subtask_skipped 2: subtask 0 ended as refused, and the rest stops with it (policy.on_error)
  . subtask_skipped 3: subtask 0 ended as refused, and the rest stops with it (policy.on_error)
  . subtask_skipped 4: subtask 0 ended as refused, and the rest stops with it (policy.on_error)
  . tool_finished d2 error
    | 0 of 5 subtasks brought a result.
    |
    | ## Subtask 0: a
    | [SKIPPED] a sub-agent needs at least 4096 tokens (policy.min_child_tokens), and 3829 can be given: do the task yourself
    |
    | ## Subtask 1: b
    | [SKIPPED] subtask 0 ended as refused, and the rest stops with it (policy.on_error)
    |
    | ## Subtask 2: c
    | [SKIPPED] subtask 0 ended as refused, and the rest stops with it (policy.on_error)
    |
    | ## Subtask 3: d
    | [SKIPPED] subtask 0 ended as refused, and the rest stops with it (policy.on_error)
    |
    | ## Subtask 4: e
    | [SKIPPED] subtask 0 ended as refused, and the rest stops with it (policy.on_error)
  . turn_started 3
model: Alone then.
  . answered 3, 110 tokens
  . reported completed: Alone then.
    | used 2 calls, 3 turns, 330 tokens
