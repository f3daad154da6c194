# Runs the probe, whose tests fail on purpose, and checks that each failure is seen.
# cmake -DLAUNCH=<launcher;flags;...;program> -P check_harness.cmake
function(expect status pattern)
  execute_process(COMMAND ${LAUNCH} ${ARGN} --gtest_color=no
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(status STREQUAL "pass" AND NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} should have passed:\n${output}")
  elseif(status STREQUAL "fail" AND result EQUAL 0)
    message(FATAL_ERROR "${ARGN} should have failed:\n${output}")
  elseif(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN} should have printed '${pattern}':\n${output}")
  endif()
endfunction()

expect(pass "PASSED  . 1 test" --expect-ranks=3 --gtest_filter=Probe.Passes)
expect(fail "there are 3 ranks" --expect-ranks=4 --gtest_filter=Probe.Passes)
expect(fail "there are 3 ranks" --expect-ranks=x --gtest_filter=Probe.Passes)
expect(fail "no test matches" --expect-ranks=3 --gtest_filter=Nothing.*)
expect(fail "rank 1. Probe.FailsOnEveryRank" --gtest_filter=Probe.FailsOnEveryRank)
expect(fail "failed on rank 2" --gtest_filter=Probe.FailsOnTheLastRankOnly)
expect(fail "rank 2. Probe.ThrowsOnTheLastRankOnly" --gtest_filter=Probe.ThrowsOnTheLastRankOnly)
expect(fail "rank 2. Probe.LeavesTheOthersWaiting failed here, and other ranks"
  --patience=2 --gtest_filter=Probe.LeavesTheOthersWaiting)
expect(pass "PASSED  . 1 test" --only=x,probe --gtest_filter=Probe.Passes)
expect(fail "no test matches" --only=x,y --gtest_filter=Probe.Passes)
expect(fail "no test matches" --without=x,probe --gtest_filter=Probe.Passes)
expect(pass "PASSED  . 1 test" --without=x "--gtest_filter=Probe.P*-*.F*")
