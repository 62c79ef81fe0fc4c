Whole calls before one that is cut off are run, and as long as one of them succeeds the agent goes on (T70).

user: Write all
  . run_started 1
  . turn_started 1
model (cut): call edit_file {"path":"a"} as e1
and half edit_file
  . answered 1, 110 tokens
    | e1 edit_file runs
  . tool_started e1
tool e1: ok written
  . tool_finished e1 ok: written
  . turn_started 2
model (cut): call edit_file {"path":"b"} as e2
and half edit_file
  . answered 2, 110 tokens
    | e2 edit_file runs
  . tool_started e2
tool e2: ok written
  . tool_finished e2 ok: written
  . turn_started 3
model (cut): call edit_file {"path":"c"} as e3
and half edit_file
  . answered 3, 110 tokens
    | e3 edit_file runs
  . tool_started e3
tool e3: error disk full
  . tool_finished e3 error: disk full
  . turn_started 4
model (cut): call edit_file {"path":"d"} as e4
and half edit_file
  . answered 4, 110 tokens
    | e4 edit_file runs
  . tool_started e4
tool e4: error disk full
  . tool_finished e4 error: disk full
  . turn_started 5, the last: error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, in the middle of a call of edit_file (models."test/model".max_output_tokens), at most 2048 tokens
model: Two of four.
  . answered 5, 110 tokens
  . reported error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, in the middle of a call of edit_file (models."test/model".max_output_tokens): Two of four.
    | used 4 calls, 5 turns, 550 tokens
