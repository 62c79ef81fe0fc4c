Nothing said after a refusal is refused; a refused call alone leaves the outcome to the answer.

mode plan

user: Go
  . run_started 1
  . turn_started 1
model: call edit_file {"path":"a"} as e1
  . answered 1, 110 tokens
    | e1 edit_file refused: edit_file is not permitted: mode plan: read only
  . turn_started 2
model: nothing
  . answered 2, 110 tokens
  . reported refused, a call was refused, and the agent said nothing more
    | used 1 calls, 2 turns, 220 tokens
user: Again
  . run_started 2
  . turn_started 3
model: call edit_file {"path":"a"} as e2
  . answered 3, 110 tokens
    | e2 edit_file refused: edit_file is not permitted: mode plan: read only
  . turn_started 4
model: I may not write.
  . answered 4, 110 tokens
  . reported completed: I may not write.
    | used 1 calls, 2 turns, 220 tokens
