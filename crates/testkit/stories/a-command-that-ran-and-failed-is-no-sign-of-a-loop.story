A command that ran and exited with an error tells something new: tests may fail while an agent works on the fix (T70).

mode dangerous
policy loop_failed_at 2

user: Make the tests pass
  . run_started 1
  . turn_started 1
model: call run_command {"command":"make test"} as c1
  . answered 1, 110 tokens
    | c1 run_command runs
  . tool_started c1
tool c1: exit 2
  . tool_finished c1 error: exit code 2
  . turn_started 2
model: call run_command {"command":"make test1"} as c2
  . answered 2, 110 tokens
    | c2 run_command runs
  . tool_started c2
tool c2: exit 2
  . tool_finished c2 error: exit code 2
  . turn_started 3
model: call run_command {"command":"make test2"} as c3
  . answered 3, 110 tokens
    | c3 run_command runs
  . tool_started c3
tool c3: exit 2
  . tool_finished c3 error: exit code 2
  . turn_started 4
model: call run_command {"command":"made"} as c4
  . answered 4, 110 tokens
    | c4 run_command runs
  . tool_started c4
tool c4: error the command could not be started
  . tool_finished c4 error: the command could not be started
  . turn_started 5
model: call run_command {"command":"maid"} as c5
  . answered 5, 110 tokens
    | c5 run_command runs
  . tool_started c5
tool c5: error the command could not be started
  . tool_finished c5 error: the command could not be started
  . turn_started 6, the last: error (loop), in 2 answers in a row every tool call failed or was refused (policy.loop_failed_at), at most 2048 tokens
model: They still fail.
  . answered 6, 110 tokens
  . reported error (loop), in 2 answers in a row every tool call failed or was refused (policy.loop_failed_at): They still fail.
    | used 5 calls, 6 turns, 660 tokens
