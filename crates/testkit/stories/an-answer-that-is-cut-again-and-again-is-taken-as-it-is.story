An answer that is cut again and again is taken as it is.

user: Go
  . run_started 1
  . turn_started 1
model (cut): a
  . answered 1, 110 tokens
  . turn_started 2
model (cut): b
  . answered 2, 110 tokens
  . turn_started 3
model (cut): c
  . answered 3, 110 tokens
  . turn_started 4
model (cut): d
  . answered 4, 110 tokens
  . turn_started 5
model (cut): e
  . answered 5, 110 tokens
  . reported completed: abcde
    | used 0 calls, 5 turns, 550 tokens
