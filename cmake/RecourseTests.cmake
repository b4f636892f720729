# How tests are made and found. Every test says which libraries it is about, so that `./dev test --changed` can run
# those that a change can have touched: recourse_write_map() writes what it needs to know into the build folder.

enable_testing()
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

# What only tests: as fast as it can be compiled, which takes longer than running it. The code it tests is
# optimised all the same.
set(RECOURSE_TEST_FLAGS -O0)

# What the sanitizers look at in the short form: all of the first for wrong addresses, and of those with threads,
# whose label is `unit-threaded`, the order in which they touch things.
add_custom_target(unit_tests)
add_custom_target(threaded_tests)
# What the whole of `./dev test` runs in release.
add_custom_target(all_tests)

# recourse_note_test(<id> ABOUT <libraries...> [THROUGH <libraries...>] [TARGETS <targets...>] [FILES <files...>])
# ABOUT names libraries without their recourse_ prefix: those that the test proves something of. A change in them, or
# in what they link, can make it fail. THROUGH names those by which it only gets there, such as the library's face or
# the whole server: a change in them counts, one in whatever else they link does not. TARGETS are the programs that
# it runs, FILES what it reads besides. Its tests have the label `of-<id>`. recourse_write_map() refuses a name that is
# no library.
function(recourse_note_test id)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "ABOUT;THROUGH;TARGETS;FILES")
  list(JOIN ARG_ABOUT "," about)
  list(JOIN ARG_THROUGH "," through)
  list(JOIN ARG_TARGETS "," targets)
  recourse_relative_paths(folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  recourse_relative_paths(files ${CMAKE_CURRENT_SOURCE_DIR} ${ARG_FILES})
  list(JOIN files "," files)
  set_property(GLOBAL APPEND_STRING PROPERTY RECOURSE_TEST_MAP
    "test|${id}|${folder}|${about}|${through}|${targets}|${files}\n")
  foreach(library IN LISTS ARG_ABOUT ARG_THROUGH)
    set_property(GLOBAL APPEND PROPERTY RECOURSE_NAMED_LIBRARIES "${id}: ${library}")
  endforeach()
  if(ARG_TARGETS)
    add_dependencies(all_tests ${ARG_TARGETS})
  endif()
endfunction()

# recourse_add_test(<name> COMMAND <command...> ABOUT <libraries...> [THROUGH <libraries...>] [TARGETS <targets...>]
#                   [FILES <files...>] [LABELS <labels...>] [SHARDS <number>] [PROPERTIES <name value>...])
# With SHARDS the cases of a GoogleTest program are spread over so many tests, which run side by side.
function(recourse_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SHARDS" "COMMAND;ABOUT;THROUGH;TARGETS;FILES;LABELS;PROPERTIES")
  recourse_note_test(${name} ABOUT ${ARG_ABOUT} THROUGH ${ARG_THROUGH} TARGETS ${ARG_TARGETS} FILES ${ARG_FILES})
  set(labels of-${name} ${ARG_LABELS})
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test ${name})
    if(ARG_SHARDS GREATER 1)
      set(test ${name}_${shard}_of_${ARG_SHARDS})
    endif()
    add_test(NAME ${test} COMMAND ${ARG_COMMAND})
    set_tests_properties(${test} PROPERTIES LABELS "${labels}")
    if(ARG_PROPERTIES)
      set_tests_properties(${test} PROPERTIES ${ARG_PROPERTIES})
    endif()
    if(ARG_SHARDS GREATER 1)
      math(EXPR index "${shard} - 1")
      set_property(TEST ${test} APPEND PROPERTY
        ENVIRONMENT GTEST_TOTAL_SHARDS=${ARG_SHARDS} GTEST_SHARD_INDEX=${index})
    endif()
  endforeach()
endfunction()

# What every program of tests has.
function(recourse_test_program target)
  target_compile_options(${target} PRIVATE ${RECOURSE_TEST_FLAGS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE recourse_flags GTest::gmock GTest::gtest_main rapidcheck)
endfunction()

# Cases that need no server. Each is known to ctest under its own name; under a sanitizer, where they are never
# asked for one by one, the program is one test, which saves hundreds of starts.
function(recourse_discover_unit_tests target label)
  if(RECOURSE_SANITIZE)
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES LABELS "of-${target};${label}" TIMEOUT 600)
  else()
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
    # Read by ctest behind the list of cases; given to the function above, only one of two labels would survive.
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
    file(CONFIGURE OUTPUT ${labels} @ONLY CONTENT
      "if(${target}_TESTS)
  set_tests_properties(\${${target}_TESTS} PROPERTIES LABELS \"of-${target};${label}\")
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()

# recourse_unit_test(<library> [THREADED] [PROGRAM <target>] SOURCES <files...> [LINKS <targets...>] [FILES <files...>])
# The tests beside a library's code, or with PROGRAM another set of tests that need nothing but memory. What they link
# of ours besides, they go through.
function(recourse_unit_test library)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "THREADED" "PROGRAM" "SOURCES;LINKS;FILES")
  if(NOT ARG_PROGRAM)
    set(ARG_PROGRAM ${library}_test)
  endif()
  add_executable(${ARG_PROGRAM} ${ARG_SOURCES})
  recourse_test_program(${ARG_PROGRAM})
  target_link_libraries(${ARG_PROGRAM} PRIVATE recourse_${library} ${ARG_LINKS})
  add_dependencies(unit_tests ${ARG_PROGRAM})
  set(label unit)
  if(ARG_THREADED)
    add_dependencies(threaded_tests ${ARG_PROGRAM})
    set(label unit-threaded)
  endif()
  set(through ${ARG_LINKS})
  list(FILTER through INCLUDE REGEX "^recourse_")
  list(TRANSFORM through REPLACE "^recourse_" "")
  recourse_note_test(${ARG_PROGRAM} ABOUT ${library} THROUGH ${through} TARGETS ${ARG_PROGRAM} FILES ${ARG_FILES})
  recourse_discover_unit_tests(${ARG_PROGRAM} ${label})
endfunction()

# recourse_server_program(<name> SOURCES <files...> [LINKS <targets...>] [STARTS <targets...>])
# The program <name>_server_test, which finds the path of each program it starts in a macro of that name.
function(recourse_server_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINKS;STARTS")
  add_executable(${name}_server_test ${ARG_SOURCES})
  recourse_test_program(${name}_server_test)
  target_link_libraries(${name}_server_test PRIVATE ${ARG_LINKS})
  foreach(started IN LISTS ARG_STARTS)
    string(TOUPPER ${started} macro)
    target_compile_definitions(${name}_server_test PRIVATE ${macro}="$<TARGET_FILE:${started}>")
    add_dependencies(${name}_server_test ${started})
  endforeach()
endfunction()

# recourse_server_test(<name> ABOUT <libraries...> [THROUGH <libraries...>] SOURCES <files...> [LINKS <targets...>]
#                      [STARTS <targets...>] [LABELS <labels...>] [SHARDS <number>] [MEASURED <cases>]
#                      [PROPERTIES <name value>...])
# Tests that need the servers which ./dev test starts. With MEASURED those cases (as --gtest_filter has them) also make
# up the test <name>_measured, in which they take times and memory: it runs alone, in release, with --full.
function(recourse_server_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SHARDS;MEASURED" "ABOUT;THROUGH;SOURCES;LINKS;STARTS;LABELS;PROPERTIES")
  recourse_server_program(${name} SOURCES ${ARG_SOURCES} LINKS ${ARG_LINKS} STARTS ${ARG_STARTS})
  recourse_add_test(${name}_server_test
    COMMAND ${name}_server_test
    ABOUT ${ARG_ABOUT}
    THROUGH ${ARG_THROUGH}
    TARGETS ${name}_server_test ${ARG_STARTS}
    LABELS server ${ARG_LABELS}
    SHARDS ${ARG_SHARDS}
    PROPERTIES TIMEOUT 300 COST 20 ${ARG_PROPERTIES})
  if(ARG_MEASURED AND NOT RECOURSE_SANITIZE)
    recourse_add_test(${name}_measured
      COMMAND ${name}_server_test --gtest_filter=${ARG_MEASURED}
      ABOUT ${ARG_ABOUT}
      THROUGH ${ARG_THROUGH}
      TARGETS ${name}_server_test
      LABELS measured
      PROPERTIES RUN_SERIAL ON TIMEOUT 3600 ENVIRONMENT RECOURSE_TEST_MEASURE=1)
  endif()
endfunction()

# recourse_write_map(): tests, and which target is made of which files and links which others, for tools/changed.py.
function(recourse_write_map)
  get_property(libraries GLOBAL PROPERTY RECOURSE_LIBRARIES)
  get_property(named GLOBAL PROPERTY RECOURSE_NAMED_LIBRARIES)
  foreach(one IN LISTS named)
    string(REGEX REPLACE ".*: " "recourse_" library "${one}")
    if(NOT library IN_LIST libraries)
      message(FATAL_ERROR "${one}: a test names this in ABOUT, THROUGH or LINKS, and there is no such library")
    endif()
  endforeach()
  get_property(map GLOBAL PROPERTY RECOURSE_TEST_MAP)
  recourse_map_folder(${PROJECT_SOURCE_DIR} map)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests.map CONTENT "${map}" @ONLY)
endfunction()

function(recourse_map_folder directory into)
  set(map "${${into}}")
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS below)
    recourse_map_folder(${one} map)
  endforeach()
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "UTILITY")
      recourse_map_target(${target} map)
    endif()
  endforeach()
  set(${into} "${map}" PARENT_SCOPE)
endfunction()

function(recourse_map_target target into)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  get_target_property(private_links ${target} LINK_LIBRARIES)
  get_target_property(public_links ${target} INTERFACE_LINK_LIBRARIES)
  list(FILTER sources EXCLUDE REGEX "^\\$<|-NOTFOUND$")
  recourse_relative_paths(files ${folder} ${sources})
  set(links ${private_links} ${public_links})
  # The name under which others link the public library.
  list(TRANSFORM links REPLACE "^Recourse::" "")
  list(FILTER links EXCLUDE REGEX "[$:<>]|-NOTFOUND$")
  list(REMOVE_DUPLICATES links)
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  get_property(libraries GLOBAL PROPERTY RECOURSE_LIBRARIES)
  set(sort other)
  if(target IN_LIST libraries)
    set(sort library)
  endif()
  list(JOIN files "," files)
  list(JOIN links "," links)
  set(${into} "${${into}}target|${target}|${sort}|${folder}|${links}|${files}\n" PARENT_SCOPE)
endfunction()
