//===- Inputs.h - values for the inputs of a program ------------*- C++ -*-===//
//
// The value of an input comes from, in this order: a number given by name, a file, the
// initializer of a parameter or state, a default for run-time scalars, random numbers.
// A random value depends only on the seed, the input's name and the logical index, so
// two programs with the same inputs get the same values.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_INPUTS_H
#define BRAID_LIB_REFERENCE_INPUTS_H

#include "lib/Reference/Program.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace braid::reference {

struct InputOptions {
  uint64_t seed = 0;
  /// Parameters start from their initializers instead of random values.
  bool initialize = false;
  /// Share of targets that are the ignored index.
  double ignoredShare = 0;
  /// One number for all elements of an input, by name.
  llvm::StringMap<double> numbers;
  /// Tensors from a file, by name; `prefix` comes before the name.
  const Values *file = nullptr;
  std::string prefix;
  /// Values for the inputs with the roles step and key.
  int64_t step = 1, microbatch = 0;
};

llvm::Expected<Tensor> makeInput(const InputSlot &slot, const InputOptions &options);
/// Makes all inputs of a program by name; keeps those already in `values`.
llvm::Error makeInputs(const Program &program, const InputOptions &options, Values &values);

/// Returns the value of a parameter or state before the first step.
Tensor initialValue(const InputSlot &slot, uint64_t seed);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_INPUTS_H
