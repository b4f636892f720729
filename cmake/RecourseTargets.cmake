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
else()
  # By default GCC collects garbage in its memory so often that it takes a sixth of its time: only from 1 GB on.
  target_compile_options(recourse_flags INTERFACE --param=ggc-min-heapsize=1048576)
endif()

# A hundred programs, most of them with all of the product in them: lld links them in a fifth of the time.
find_program(RECOURSE_LLD ld.lld)
if(RECOURSE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# recourse_library(<folder> SOURCES <files...> [LINKS <targets...>])
# One static library per folder of src/. LINKS repeats the folder's include arrows.
function(recourse_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINKS")
  add_library(recourse_${folder} STATIC ${ARG_SOURCES})
  target_link_libraries(recourse_${folder} PUBLIC recourse_flags ${ARG_LINKS})
  set_property(GLOBAL APPEND PROPERTY RECOURSE_LIBRARIES recourse_${folder})
endfunction()

# recourse_relative_paths(<out> <base> <files...>): the files, named from the folder <base>, as the project names them.
function(recourse_relative_paths out base)
  set(paths "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${base} NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND paths ${file})
  endforeach()
  set(${out} "${paths}" PARENT_SCOPE)
endfunction()
