An answer that is cut at its length goes on and is joined (F21).

user: Go
  . run_started 1
  . turn_started 1
model (cut): One, two, th
  . answered 1, 110 tokens
  . turn_started 2
model (cut): ree, fo
  . answered 2, 110 tokens
  . turn_started 3
model: ur.
  . answered 3, 110 tokens
  . reported completed: One, two, three, four.
    | used 0 calls, 3 turns, 330 tokens
