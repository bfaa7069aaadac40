//===- KernelNames.cpp - names of kernels ---------------------------------===//

#include "passes/Lower/KernelNames.h"
#include "dialects/TG/ValueNames.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

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
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  return result.empty() || llvm::isDigit(result[0]) ? "k" + result : result;
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

std::string braid::fusedName(StringRef first, StringRef second) {
  SmallVector<StringRef> words;
  for (StringRef name : {first, second}) {
    SmallVector<StringRef> parts;
    name.split(parts, "__");
    for (StringRef part : parts)
      if (!llvm::is_contained(words, part))
        words.push_back(part);
  }
  // Arithmetic words are dropped next to the composites they were fused with.
  auto isArithmetic = [](StringRef word) {
    return llvm::is_contained({"addf", "subf", "mulf", "divf", "negf", "cmpf", "cmpi", "select", "convert", "reduce",
                               "broadcast", "addi", "muli", "subi", "exp", "sqrt", "rsqrt", "copy"},
                              word);
  };
  if (!llvm::all_of(words, isArithmetic))
    llvm::erase_if(words, isArithmetic);
  // Three words identify a kernel; its location names all parts.
  if (words.size() > 3)
    words.resize(3);
  return llvm::join(words, "__");
}
