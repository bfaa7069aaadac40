//===- Kept.h - tensors kept from forward to backward -----------*- C++ -*-===//
#ifndef BRAID_COMPILER_REPORT_KEPT_H
#define BRAID_COMPILER_REPORT_KEPT_H

#include "dialects/Exec/Exec.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace braid {

/// A tensor that forward computes and backward reads.
struct KeptValue {
  /// Name in the graph, or else the name of the action that computes it. An additional result of a call has a number:
  /// "attended#1" is the log-sum-exp of attention.
  std::string name;
  int64_t bytes;

  bool operator==(const KeptValue &other) const { return name == other.name && bytes == other.bytes; }
};

/// The kept values of equal units, grouped: equal layers are one entry.
struct KeptOfUnits {
  /// Units in the order of forward; the root unit is "".
  std::vector<std::string> units;
  /// Bytes of the largest tensor of such a unit that other units read in forward, such as the residual stream of a
  /// transformer (batch x sequence x width); 0 if there is none.
  int64_t passedOnBytes = 0;
  std::vector<KeptValue> values;

  int64_t bytes() const;
  /// Returns `bytes` as a multiple of the bytes that the unit passes on; 0 if it passes on nothing.
  double multipleOf(int64_t bytes) const { return passedOnBytes ? double(bytes) / passedOnBytes : 0; }
};

struct KeptReport {
  std::string program;
  std::vector<KeptOfUnits> units;

  int64_t bytes() const;
};

/// Reads a program in memory form. Lists the tensors that forward writes and that are still in the arena when the first
/// action of a later phase reads them. Leaves out inputs, parameters and states, which always exist, and tensors that
/// wait in the host's memory. Bytes do not include padding.
KeptReport readKept(exec::ProgramOp program);

/// Prints a table of each tensor with its bytes, also as a multiple of the bytes that a unit passes on, and the sum.
/// Prints nothing for a program that keeps nothing.
void printKept(llvm::raw_ostream &stream, const KeptReport &kept);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_KEPT_H
