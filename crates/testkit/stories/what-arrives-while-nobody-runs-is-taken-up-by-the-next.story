What arrives while nobody runs is taken up by the next process, and nothing is booked twice.

user: Go
  . run_started 1
  . turn_started 1
model: Gone.
  . answered 1, 110 tokens
  . reported completed: Gone.
    | used 0 calls, 1 turns, 110 tokens
crash 60s
and user Go on
  . reopened after 60 s
  . run_started 2
  . turn_started 2
model: call edit_file {"path":"a"} as e1
  . answered 2, 110 tokens
    | e1 edit_file runs
  . tool_started e1
crash 60s
and steer Look at b
and stop kill enough
  . reopened after 60 s
  . steered i3 from person: Look at b
  . stop_begun by i4: cancelled, at once, enough
  . tool_finished e1 error: interrupted, outcome unknown: the process ended while edit_file was running. It was not run again. Look at what is there before you decide.
  . reported cancelled, enough
    | used 1 calls, 1 turns, 110 tokens; in 60 s
    | unfinished: not read: Message from person while you work: Look at b
user: Go on
  . run_started 3
  . turn_started 3
show: talk
  user <person>: Go
  assistant <model>: Gone.
  user <person>: Go on
  assistant calls edit_file {"path":"a"} as e1
  user <result of e1, an error>: interrupted, outcome unknown: the process ended while edit_file was running. It was not run again. Look at what is there before you decide.
  user <steer>
    | Message from person while you work:
    | Look at b
  user <person>: Go on
model: Looked.
  . answered 3, 110 tokens
  . reported completed: Looked.
    | used 0 calls, 1 turns, 110 tokens
