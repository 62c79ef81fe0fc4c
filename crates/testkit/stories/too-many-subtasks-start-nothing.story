Too many subtasks start nothing (OPTA-33, OPTA-40).

preset opta

user: Do six things
  . run_started 1
  . turn_started 1
model: call delegate_task {"plan":"six","subtasks":["1","2","3","4","5","6"]} as d1
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
  . tool_finished d1 error: Maximum 5 subtasks (policy.max_subtasks), and there are 6: nothing was begun
  . turn_started 2
model: I do them myself.
  . answered 2, 110 tokens (10 counted)
  . reported completed: I do them myself.
    | used 1 calls, 2 turns, 120 tokens
