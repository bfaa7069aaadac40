//===- States.h - parameters and states of a whole step ---------*- C++ -*-===//
//
// A whole training step of JAX takes its parameters and the states of its optimizer, and returns their new values. The
// text of the function does not state which result is the new value of an argument. JAX notes the arguments that the
// function may overwrite, and the results that fit into their memory; that result may be of another array of the same
// type. So results are found by the pytrees: the arrays of a state have the same keys and types as those of its result,
// which may have more arrays: JAX leaves out arguments that the function does not read.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_STATES_H
#define BRAID_LIB_IMPORT_STABLEHLO_STATES_H

#include "lib/Import/StableHLO/Reader.h"
#include <optional>

namespace braid::stablehlo {

/// An argument of the function that is a state, as the user states it. `result` is the first key of its new value's
/// path in the results, such as 0 or params; empty if the keys of its arrays tell.
struct StateRequest {
  std::string argument, result;
};

/// Use of a result by the states of the program.
struct ResultUse {
  /// Whether the result is the new value of a state's array.
  bool isOfState = false;
  /// Number of the argument whose new value the result is. Nothing for an array that the step does not read: JAX leaves
  /// its argument out.
  std::optional<unsigned> argument;
};

/// Finds the new values of states: returns the use of each result. States are the requested arguments, or without
/// requests the donated ones. Reports an error if a state has no new value, or if several results could be the new
/// value.
mlir::FailureOr<llvm::SmallVector<ResultUse>> findUpdates(Program &program, llvm::ArrayRef<StateRequest> requests);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_STATES_H
