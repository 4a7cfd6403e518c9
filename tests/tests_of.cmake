# tests_of(PROGRAM ...): gtest_discover_tests, which takes the same arguments.
#
# Under sanitizers, a process takes half a second to start, which is longer than most tests take. So four processes run
# all tests of a program there. Their output names the test that failed.
function(tests_of program)
  if(NOT TORCHWATCH_SANITIZE)
    gtest_discover_tests(${ARGV})
    return()
  endif()
  cmake_parse_arguments(PART "" "TEST_FILTER;TEST_LIST;DISCOVERY_TIMEOUT" "PROPERTIES" ${ARGN})
  if(NOT PART_TEST_FILTER)
    set(PART_TEST_FILTER "*")  # an empty filter selects no test
  endif()
  set(name ${program})
  while(TEST ${name}.0)
    string(APPEND name _more)
  endwhile()
  foreach(shard RANGE 3)
    add_test(NAME ${name}.${shard} COMMAND ${program} --gtest_brief=1 "--gtest_filter=${PART_TEST_FILTER}")
    set_tests_properties(${name}.${shard} PROPERTIES ${PART_PROPERTIES} TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
  endforeach()
  # The first process has a test wherever the program has one.
  set_tests_properties(${name}.0 PROPERTIES FAIL_REGULAR_EXPRESSION " 0 tests from 0 test suites ran")
endfunction()
