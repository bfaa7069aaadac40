//===- Kept.h - what forward leaves in memory for backward ------*- C++ -*-===//
#ifndef BRAID_LIB_REPORT_KEPT_H
#define BRAID_LIB_REPORT_KEPT_H

#include "dialects/Exec/Exec.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace braid {

/// A tensor that forward makes and backward reads.
struct KeptValue {
  /// As its graph calls it; without a name there, as the action that makes it is called.  What a
  /// call writes beside its result is "attended#1": here the log-sum-exp of attention.
  std::string name;
  int64_t bytes;

  bool operator==(const KeptValue &other) const { return name == other.name && bytes == other.bytes; }
};

/// Of each of some units that keep the same: equal layers are one.
struct KeptOfUnits {
  /// In the order of forward; the root unit is "".
  std::vector<std::string> units;
  /// The largest tensor that others read of such a unit in forward, as the residual stream of a
  /// transformer: batch x sequence x width. 0 where others read none.
  int64_t passedOnBytes = 0;
  std::vector<KeptValue> values;

  int64_t bytes() const;
  /// The bytes as a multiple of those that the unit passes on; 0 where it passes on nothing.
  double multipleOf(int64_t bytes) const { return passedOnBytes ? double(bytes) / passedOnBytes : 0; }
};

struct KeptReport {
  std::string program;
  std::vector<KeptOfUnits> units;

  int64_t bytes() const;
};

/// Reads a program in memory form: the tensors that actions of forward write, and that still lie
/// there when the first action of a later phase reads them.  Inputs, parameters and states are
/// there anyway, and what waits in the host's memory is not there.  Bytes are those of the tensors, without padding.
KeptReport readKept(exec::ProgramOp program);

/// What lies in an out of an action in memory form: "transformer.wte.weight" where a parameter is gathered, ".grad"
/// behind it for its gradient, and else the unit and the value's name, "h.0.attended".
std::string contentName(exec::ActionOpInterface action, unsigned out);

/// A table: each tensor with its bytes and as a multiple of what a unit passes on, and the sum;
/// nothing for a program that keeps nothing.
void printKept(llvm::raw_ostream &stream, const KeptReport &kept);

} // namespace braid

#endif // BRAID_LIB_REPORT_KEPT_H
