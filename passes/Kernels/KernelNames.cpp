//===- KernelNames.cpp - names of kernels ---------------------------------===//

#include "passes/Kernels/KernelNames.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

/// Returns a name with `_` in place of characters that an identifier cannot have.
static std::string asIdentifier(StringRef name) {
  std::string result;
  for (char c : name)
    if (llvm::isAlnum(c) || (!result.empty() && result.back() != '_'))
      result += llvm::isAlnum(c) ? c : '_';
  result.resize(StringRef(result).rtrim('_').size());
  return result.empty() || llvm::isDigit(result[0]) ? "k" + result : result;
}

/// Returns the last part of a dotted name that is not a number, as an identifier: `tg.layer_norm` and `h.0.layer_norm`
/// become `layer_norm`.
static std::string identifierOf(StringRef name) {
  while (true) {
    auto [head, tail] = name.rsplit('.');
    bool isNumber = !tail.empty() && llvm::all_of(tail, llvm::isDigit);
    if (!isNumber) {
      name = tail.empty() ? head : tail;
      break;
    }
    name = head;
  }
  return asIdentifier(name);
}

std::string braid::kernelNameOf(Operation *op) {
  // Other location names belong to layers, whose equal kernels are shared.
  if (auto name = tg::withoutValueName(op->getLoc())->findInstanceOf<NameLoc>()) {
    // `tg.update adamw` names one of the op's definitions.
    auto [composite, definition] = name.getName().getValue().split(' ');
    if (RegisteredOperationName::lookup(composite, op->getContext()))
      return identifierOf(definition.empty() ? composite : definition);
  }
  return identifierOf(op->getName().getStringRef());
}

/// Returns whether a word of a kernel's name describes arithmetic, not the computed value. Copies have no op.
static bool isArithmetic(StringRef word, MLIRContext *context) {
  auto opOf = [&](StringRef dialect) { return RegisteredOperationName::lookup((dialect + "." + word).str(), context); };
  if (std::optional<RegisteredOperationName> op = opOf(tg::TGDialect::getDialectNamespace()))
    return !op->hasInterface<DecomposableOpInterface>() &&
           (op->hasTrait<HasNumericKind<NumericKind::Movement>::Impl>() ||
            op->hasTrait<HasNumericKind<NumericKind::Reduction>::Impl>() ||
            op->hasTrait<HasNumericKind<NumericKind::Conversion>::Impl>());
  return opOf("arith") || opOf("math") || word == "copy";
}

static SmallVector<StringRef> wordsOf(StringRef name) {
  SmallVector<StringRef> words;
  name.split(words, "__");
  return words;
}

std::string braid::fusedName(StringRef first, StringRef second, MLIRContext *context) {
  SmallVector<StringRef> words;
  for (StringRef name : {first, second})
    for (StringRef word : wordsOf(name))
      if (!llvm::is_contained(words, word))
        words.push_back(word);
  auto isPlain = [&](StringRef word) { return isArithmetic(word, context); };
  if (!llvm::all_of(words, isPlain))
    llvm::erase_if(words, isPlain);
  // Three words identify a kernel; its location names all parts.
  if (words.size() > 3)
    words.resize(3);
  return llvm::join(words, "__");
}

/// Returns whether the runtime has a function of this name and `_kernel`, which a value's name must not give a kernel.
static bool isOfRuntime(StringRef name) {
  static const llvm::StringSet<> names = {"add_segments",
                                          "attention",
                                          "attention_grad_keys",
                                          "attention_grad_queries",
                                          "br_cuda",
                                          "copy_block",
                                          "enter",
                                          "find_starts",
                                          "finish_elements",
                                          "gather_rows",
                                          "merge_runs",
                                          "sort_tiles",
                                          "store_index",
                                          "sum_parts",
                                          "sum_rows"};
  return names.contains(name);
}

std::string braid::definitionName(exec::KernelOp kernel) {
  SmallVector<StringRef> words = wordsOf(kernel.getName());
  if (llvm::all_of(words, [&](StringRef word) { return isArithmetic(word, kernel.getContext()); }))
    for (Value yielded : kernel.getBlock()->getTerminator()->getOperands())
      if (Operation *op = yielded.getDefiningOp())
        if (std::string value = tg::nameOfResult(op); !value.empty()) {
          std::string name = asIdentifier(value);
          return isOfRuntime(name) ? name + "_value" : name;
        }
  return llvm::join(words, "_");
}
