An answer that misses its schema is asked for twice more, and then it is an error that keeps the words.

schema {"type":"object","required":["title"]}

user: Go
  . run_started 1
  . turn_started 1
model: Here it is
and misfit it is no JSON
  . answered 1, 110 tokens, misfit: it is no JSON
  . turn_started 2
model: {"name":"x"}
and misfit "title" is missing
  . answered 2, 110 tokens, misfit: "title" is missing
  . turn_started 3
model: {"title":"x"}
  . answered 3, 110 tokens
  . reported completed: {"title":"x"}
    | used 0 calls, 3 turns, 330 tokens
    | data {"title":"x"}
user: Again
  . run_started 2
  . turn_started 4
model: no
and misfit it is no JSON
  . answered 4, 110 tokens, misfit: it is no JSON
  . turn_started 5
model: no!
and misfit it is no JSON
  . answered 5, 110 tokens, misfit: it is no JSON
  . turn_started 6
model: no!!
and misfit it is no JSON
  . answered 6, 110 tokens, misfit: it is no JSON
  . reported error (schema), the answer does not fit the schema: it is no JSON: no!!
    | used 0 calls, 3 turns, 330 tokens
