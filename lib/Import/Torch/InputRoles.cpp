//===- InputRoles.cpp - what inputs are to training -----------------------===//

#include "lib/Import/Torch/InputRoles.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

FailureOr<tg::Role> braid::torch::roleOf(const Input &input, const Program &program, const ImportOptions &options,
                                         Location loc) {
  ScalarType element = program.typeOf(input.name).element;
  bool isInteger = element == ScalarType::I64 || element == ScalarType::I32;
  bool isFloat = element == ScalarType::F32 || element == ScalarType::F64 || element == ScalarType::BF16;
  for (const InputRole &stated : options.roles)
    if (stated.name == input.target)
      return stated.role;
  // The last part of a path: batch.input_ids.
  StringRef name = input.target, last = name.contains('.') ? name.rsplit('.').second : name;
  bool isTarget = is_contained({"targets", "target", "labels", "label", "y"}, last);
  if (isInteger && isTarget)
    return tg::Role::Targets;
  if (isInteger && is_contained({"tokens", "input_ids", "idx", "ids", "x", "input"}, last))
    return tg::Role::Tokens;
  if (isFloat)
    return isTarget ? tg::Role::Labels : tg::Role::Features;
  emitError(loc) << "the name does not tell what input '" << name << "' (" << nameOf(element)
                 << ") is to training; state it: --input " << name << "=tokens|targets|features|labels";
  return failure();
}
