//===- Arguments.cpp - kinds of the arguments of a call -------------------===//

#include "lib/Import/Torch/Translator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

/// Whether an argument has the kind that a row states.
static bool isOfKind(const Argument &argument, StringRef kind) {
  if (kind == "T")
    return std::holds_alternative<TensorName>(argument) && !std::get<TensorName>(argument).name.empty();
  if (const auto *names = std::get_if<TensorNames>(&argument))
    return kind == "OL" || (kind == "TL" && none_of(*names, [](const TensorName &each) { return each.name.empty(); }));
  if (kind == "I")
    return std::holds_alternative<int64_t>(argument);
  if (kind == "IL")
    return std::holds_alternative<Integers>(argument);
  if (kind == "NL")
    return std::holds_alternative<Numbers>(argument);
  if (kind == "B")
    return std::holds_alternative<bool>(argument);
  if (kind == "S")
    return std::holds_alternative<std::string>(argument);
  if (kind == "D")
    return std::holds_alternative<ScalarType>(argument);
  if (kind == "N")
    return std::holds_alternative<int64_t>(argument) || std::holds_alternative<double>(argument) ||
           std::holds_alternative<bool>(argument);
  return kind == "TN" && (isOfKind(argument, "T") || isOfKind(argument, "N"));
}

LogicalResult braid::torch::checkArguments(const Call &call, const OpRow &row, Location loc) {
  SmallVector<StringRef> stated;
  row.arguments.split(stated, ' ', -1, /*KeepEmpty=*/false);
  StringMap<const Argument *> given;
  llvm::StringSet<> names;
  for (const auto &[name, argument] : call.arguments)
    if (!names.insert(name).second)
      return emitError(loc) << call.op << ": argument '" << name << "' is given twice";
    else if (!std::holds_alternative<std::monostate>(argument) && name != "out")
      given[name] = &argument; // the tensor `out` is overwritten, and not read
  for (StringRef statement : stated) {
    auto [name, kind] = statement.split(':');
    bool isOptional = kind.consume_back("?");
    auto found = given.find(name);
    if (found == given.end() ? !isOptional : !isOfKind(*found->second, kind))
      return emitError(loc) << call.op << ": argument '" << name << "' is "
                            << (found == given.end() ? "missing" : "of another kind than the op has");
    if (found != given.end())
      given.erase(found);
  }
  SmallVector<StringRef> ignored;
  row.ignored.split(ignored, ' ', -1, /*KeepEmpty=*/false);
  for (const auto &[name, argument] : call.arguments)
    if (given.contains(name) && !std::holds_alternative<WithoutEffect>(argument) && !is_contained(ignored, name))
      return emitError(loc) << call.op << ": argument '" << name << "' is not supported";
  return success();
}
