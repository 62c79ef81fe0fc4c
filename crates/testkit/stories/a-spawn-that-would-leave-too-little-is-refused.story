A spawn that would get too little is refused with the limit, its value and the key that lifts it (T16).

grant tokens=12000

user: Go
  . run_started 1
  . turn_started 1
model (5000+100): call spawn_agent {"task":"One"} as c1
and call spawn_agent {"task":"Two"} as c2
  . answered 1, 5100 tokens
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
  . tool_finished c1 error: a sub-agent needs at least 4096 tokens (policy.min_child_tokens), and 636 can be given: do the task yourself
  . tool_finished c2 error: a sub-agent needs at least 4096 tokens (policy.min_child_tokens), and 1246 can be given: do the task yourself
  . turn_started 2, the last: budget_exceeded, the grant of 12000 tokens (max_tokens) is used up, at most 1688 tokens
model (5400+50): Then I do it myself.
  . answered 2, 5450 tokens
  . budget_warned tokens 87 %
  . reported budget_exceeded, the grant of 12000 tokens (max_tokens) is used up: Then I do it myself.
    | used 2 calls, 2 turns, 10550 tokens
