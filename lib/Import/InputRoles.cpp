//===- InputRoles.cpp - what inputs are to training -----------------------===//

#include "lib/Import/InputRoles.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

FailureOr<tg::Role> braid::roleOf(StringRef name, Type element, StringRef typeName, const ImportOptions &options,
                                  Location loc) {
  for (const InputRole &stated : options.roles)
    if (stated.name == name)
      return stated.role;
  // The last part of a path: batch.input_ids.
  StringRef last = name.contains('.') ? name.rsplit('.').second : name;
  bool isInteger = element.isInteger(32), isFloat = isa<FloatType>(element);
  bool isTarget = is_contained({"targets", "target", "labels", "label", "y"}, last);
  if (isInteger && isTarget)
    return tg::Role::Targets;
  if (isInteger && is_contained({"tokens", "input_ids", "idx", "ids", "x", "input"}, last))
    return tg::Role::Tokens;
  if (isFloat)
    return isTarget ? tg::Role::Labels : tg::Role::Features;
  emitError(loc) << "the name does not tell what input '" << name << "' (" << typeName
                 << ") is to training; state it: --input " << name << "=tokens|targets|features|labels";
  return failure();
}
