# How every target of the house is compiled: one language level, warnings that are errors, and floating point that gives the
# same bits on every CPU and at every optimisation level.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(ACE_CCACHE ccache)
if(ACE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ACE_CCACHE})
endif()
find_program(ACE_MOLD mold)
if(ACE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(ace_options INTERFACE)
target_include_directories(ace_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(ace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wformat=2 -Wimplicit-fallthrough -Werror
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ace_options INTERFACE -Wno-restrict)  # false positives at -O3 in GCC 12
  target_compile_options(ace_options INTERFACE $<$<CONFIG:Release>:-Wno-stringop-overflow>)  # likewise, in fmt 9
endif()

set(ACE_SANITIZE "" CACHE STRING "comma list for -fsanitize=, e.g. address,undefined")
if(ACE_SANITIZE)
  add_compile_options(-fsanitize=${ACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ACE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumentation hides from GCC 12 that a variant's other alternative is not read; the plain builds keep the warning.
    target_compile_options(ace_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
option(ACE_FUZZ "build fuzz targets with libFuzzer (clang)" OFF)
if(ACE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage in the libraries; each fuzz target links the driver
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
# Asio has headers alone, and no package file. The room that uses it names them.
find_path(ACE_ASIO asio.hpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(CLP REQUIRED IMPORTED_TARGET clp)
pkg_check_modules(CBC REQUIRED IMPORTED_TARGET cbc osi-cbc)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

# Real traces, prices and benchmark instances live outside the repository; tests that need them exist only where they do.
if(DEFINED ENV{ACE_DATA})
  set(ACE_DATA_DEFAULT $ENV{ACE_DATA})
else()
  set(ACE_DATA_DEFAULT ${CMAKE_SOURCE_DIR}/../shared/data)
endif()
set(ACE_DATA ${ACE_DATA_DEFAULT} CACHE PATH "folder of the real data sets")
if(EXISTS ${ACE_DATA}/README.md)
  set(ACE_HAVE_DATA ON)
  get_filename_component(ACE_DATA ${ACE_DATA} ABSOLUTE)
  message(STATUS "real data: ${ACE_DATA}")
else()
  set(ACE_HAVE_DATA OFF)
  message(STATUS "real data: absent, its tests are not registered")
endif()
set(ACE_HAVE_DATA ${ACE_HAVE_DATA} CACHE INTERNAL "")  # for scripts/test
