A call that is cut off at the output limit is asked for once more, with more room, and then the agent is ended (T70).

model test/long

user: Write it
  . run_started 1
  . turn_started 1, at most 16384 tokens
model (cut): I write the whole book.
and half edit_file
  . answered 1, 110 tokens
  . turn_started 2
model (cut): Once more.
and half edit_file
  . answered 2, 110 tokens
  . turn_started 3, the last: error (output_limit), the model's answers were cut off at the output limit, the newest at 64000 tokens, in the middle of a call of edit_file (models."test/long".max_output_tokens), at most 2048 tokens
model: The book is too long for one call.
  . answered 3, 110 tokens
  . reported error (output_limit), the model's answers were cut off at the output limit, the newest at 64000 tokens, in the middle of a call of edit_file (models."test/long".max_output_tokens): The book is too long for one call.
    | used 0 calls, 3 turns, 330 tokens
user: Again
  . run_started 2
  . turn_started 4, at most 16384 tokens
model (cut): call edit_file {"path":"a"} as e1
  . answered 4, 110 tokens
    | e1 edit_file refused: the arguments of edit_file could not be read: the answer was cut off at its output limit. Call it again with one JSON object
  . turn_started 5
model: call edit_file {"path":"a","text":"one"} as e2
  . answered 5, 110 tokens
    | e2 edit_file runs
  . tool_started e2
tool e2: ok written
  . tool_finished e2 ok: written
  . turn_started 6, at most 16384 tokens
model (cut): nothing
and half edit_file
  . answered 6, 110 tokens
  . turn_started 7
model: Written in part.
  . answered 7, 110 tokens
  . reported completed: Written in part.
    | used 2 calls, 4 turns, 440 tokens
show: talk
  user <person>: Write it
  assistant <model>: I write the whole book.
  user <house>: Your answer was cut off at the output limit of 16384 tokens in the middle of a call of edit_file. That call was not run. The next answer may have up to 64000 tokens. Answer again, in smaller steps: for example, write a long file in several calls. If it is cut off again, you are ended.
  assistant <model>: Once more.
  user <house>: This is your last turn: the model's answers were cut off at the output limit, the newest at 64000 tokens, in the middle of a call of edit_file (models."test/long".max_output_tokens). Tools are off. Say in a few sentences what is done, what you found, and what is left.
  assistant <model>: The book is too long for one call.
  user <person>: Again
  assistant calls edit_file {"path":"a"} as e1
  user <result of e1, an error>: the arguments of edit_file could not be read: the answer was cut off at its output limit. Call it again with one JSON object
  user <house>: Your answer was cut off at the output limit of 16384 tokens in the middle of a call of edit_file. That call was not run. The next answer may have up to 64000 tokens. Answer again, in smaller steps: for example, write a long file in several calls. If it is cut off again, you are ended.
  assistant calls edit_file {"path":"a","text":"one"} as e2
  user <result of e2>: written
  user <house>: Your answer was cut off at the output limit of 16384 tokens in the middle of a call of edit_file. That call was not run. The next answer may have up to 64000 tokens. Answer again, in smaller steps: for example, write a long file in several calls. If it is cut off again, you are ended.
  assistant <model>: Written in part.
