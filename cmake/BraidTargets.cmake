# How libraries and tools of the compiler are declared.
#
# braid_library(NAME sources... [DEPENDS tablegen targets] [LINK libraries])
#   a static library of the compiler: no RTTI and no exceptions, as LLVM is.
# braid_tool(NAME sources... [LINK libraries])
#   a tiny main that links libraries and the two shared libraries of LLVM.
#   Linking any libMLIR*.a beside them would give two copies of the same code.

# -O2 takes a tenth less time than the -O3 of Release.
set(braid_flags $<$<CONFIG:Release>:-O2> -fno-rtti -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlaps and overflows in `"x" + string` that are not there (its
  # bug 105329).  ccache needs -fpch-preprocess to know which header was used.
  list(APPEND braid_flags -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
    -fpch-preprocess)
endif()

# The headers of MLIR and of the dialects, precompiled: they take most of a file's compile time.
# All is compiled again when a dialect's header changes.
add_library(braid_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_compile_options(braid_pch PRIVATE ${braid_flags})
target_precompile_headers(braid_pch PRIVATE
  <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/OpDefinition.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Pass/Pass.h> <dialects/TG/TG.h> <dialects/Exec/Exec.h> <dialects/Comm/Comm.h>)
add_dependencies(braid_pch braid_tablegen)

function(braid_compile_options target)
  target_compile_options(${target} PRIVATE ${braid_flags})
  target_precompile_headers(${target} REUSE_FROM braid_pch)
endfunction()

# Files of a library are compiled eight at a time (CMAKE_UNITY_BUILD).  These give a name of their own
# that another file of their library gives, too, and are compiled alone.
function(braid_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(braid_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  if(NOT ARG_UNPARSED_ARGUMENTS)
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  braid_compile_options(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  add_dependencies(${name} braid_tablegen)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

function(braid_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  braid_compile_options(${name})
  add_dependencies(${name} braid_tablegen)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  # Debian's LLVM is in a folder of its own, where the loader does not look.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    INSTALL_RPATH ${LLVM_LIBRARY_DIR})
  set_property(GLOBAL APPEND PROPERTY BRAID_TOOLS ${name})
endfunction()
