//===- PrintNamed.cpp - a graph with the names of its arguments -----------===//
//
// MLIR lets an op name its results, but a function of its func dialect does not name its arguments: they are printed as
// %arg0, %arg1, and so on. So the text is printed first, and its names replaced.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/PrintNamed.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Input/SsaNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Calls `plain` for the pieces of a text, and `value` for each SSA name in it, without the percent sign. Strings have
/// no SSA names.
static void splitAtValues(StringRef text, llvm::function_ref<void(StringRef)> plain,
                          llvm::function_ref<void(StringRef)> value) {
  auto isPart = [](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; };
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
    } else if (text[at] == '%') {
      StringRef name = text.substr(at + 1).take_while(isPart);
      plain(text.slice(begin, at + 1));
      value(name);
      begin = at + 1 + name.size();
      at = begin - 1;
    }
  }
  plain(text.substr(begin));
}

static StringRef tensorOf(BlockArgument argument) {
  tg::ArgumentAttrs attributes(argument);
  if (attributes.parameter)
    return attributes.parameter.getName();
  if (attributes.state)
    return attributes.state.getName();
  return attributes.input ? attributes.input.getValue() : StringRef();
}

void braid::printNamed(raw_ostream &os, ModuleOp module) {
  std::string text;
  raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  StringMap<StringRef> tensors;
  for (BlockArgument argument : function.getArguments())
    tensors["arg" + std::to_string(argument.getArgNumber())] = tensorOf(argument);

  SsaNames names;
  splitAtValues(
      text, [](StringRef) {},
      [&](StringRef name) {
        if (!tensors.contains(name))
          names.take(name);
      });
  StringMap<std::string> renamed;
  for (BlockArgument argument : function.getArguments()) {
    std::string printed = "arg" + std::to_string(argument.getArgNumber());
    renamed[printed] = names.of(tensors[printed]);
  }
  splitAtValues(
      text, [&](StringRef piece) { os << piece; },
      [&](StringRef name) {
        auto found = renamed.find(name);
        os << (found == renamed.end() ? name : StringRef(found->second));
      });
}
