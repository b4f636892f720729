# How every target of the project is compiled, and the functions that make them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# No NDEBUG: a broken invariant stops a release too, before it can be written to a store.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
# The library's own bounds checks everywhere else; in a release they cost the timing wheel a quarter.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

add_library(recourse_flags INTERFACE)
target_compile_options(recourse_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
target_include_directories(recourse_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)

set(RECOURSE_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
if(RECOURSE_SANITIZE)
  target_compile_options(recourse_flags INTERFACE
    -fsanitize=${RECOURSE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # GCC sees uninitialised optionals in the instrumented code that are not there; the release build, which
  # is not instrumented, keeps that warning.
  # Boost.Asio has fences, which the thread sanitizer does not see; its locks are enough for it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(recourse_flags INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
  target_link_options(recourse_flags INTERFACE -fsanitize=${RECOURSE_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(recourse_flags INTERFACE -Wthread-safety)
endif()

enable_testing()
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

# What only tests: as fast as it can be compiled, which takes longer than running it. The code it tests is
# optimised all the same.
set(RECOURSE_TEST_FLAGS -O0)

# recourse_library(<folder> SOURCES <files...> [LINKS <targets...>])
# One static library per folder of src/. LINKS repeats the folder's include arrows.
function(recourse_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINKS")
  add_library(recourse_${folder} STATIC ${ARG_SOURCES})
  target_link_libraries(recourse_${folder} PUBLIC recourse_flags ${ARG_LINKS})
endfunction()

# What the sanitizers look at in the short form: all of the first for wrong addresses, and of those with threads,
# whose label is `unit-threaded`, the order in which they touch things.
add_custom_target(unit_tests)
add_custom_target(threaded_tests)

# recourse_unit_test(<folder> [THREADED] SOURCES <files...>)
# The tests beside a folder's code, each known to ctest under its own name.
function(recourse_unit_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "THREADED" "" "SOURCES")
  add_executable(${folder}_test ${ARG_SOURCES})
  target_compile_options(${folder}_test PRIVATE ${RECOURSE_TEST_FLAGS})
  target_link_libraries(${folder}_test PRIVATE recourse_${folder} GTest::gmock GTest::gtest_main rapidcheck)
  add_dependencies(unit_tests ${folder}_test)
  set(label unit)
  if(ARG_THREADED)
    add_dependencies(threaded_tests ${folder}_test)
    set(label unit-threaded)
  endif()
  gtest_discover_tests(${folder}_test DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${label} TIMEOUT 60)
endfunction()

# recourse_server_test(<name> SOURCES <files...> [LINKS <targets...>])
# Tests that need the database servers which ./dev test starts. One program is one test for ctest, because
# each sets up databases of its own.
function(recourse_server_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINKS")
  add_executable(${name}_server_test ${ARG_SOURCES})
  target_include_directories(${name}_server_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_server_test PRIVATE
    recourse_flags ${ARG_LINKS} GTest::gmock GTest::gtest_main rapidcheck)
  add_test(NAME ${name}_server_test COMMAND ${name}_server_test)
  # Begun before the short ones, so that no core waits for the last of them.
  set_tests_properties(${name}_server_test PROPERTIES LABELS server TIMEOUT 300 COST 20)
endfunction()
