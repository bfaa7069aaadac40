//===- KernelPrinter.cpp - one kernel as a C++ function ------------------===//

#include "lib/Codegen/KernelPrinter.h"
#include "lib/Codegen/CppText.h"
#include "lib/Codegen/KernelWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

std::string codegen::kernelFunction(StringRef symbol) { return identifier(symbol) + "_kernel"; }

std::string KernelWriter::headComment() {
  std::string text = analysis.kernel.getSymName().str() + ": ";
  if (analysis.flat)
    text += "vectors of any length";
  else if (analysis.rows * analysis.lanes == 1)
    text += "one value";
  else if (analysis.rowSizes.empty())
    text += std::to_string(analysis.lanes) + " lanes";
  else
    text += shapeText(analysis.rowSizes) + " rows of " + std::to_string(analysis.lanes) + " lanes";
  if (analysis.partition == Partition::Blocks)
    text += ", " + std::to_string(analysis.blocks()) + " blocks";
  std::string origin = originText(analysis.kernel.getLoc());
  if (!origin.empty())
    text += "; from " + origin;
  return comment(text);
}

std::string KernelWriter::signature() {
  SmallVector<std::string> parameters{std::string(flavour.blockParameter)};
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < analysis.kernel.getLayouts().size(); ++i) {
    bool isOut = i >= numIns;
    const Output *output = isOut ? &analysis.outputs[i - numIns] : nullptr;
    if (isOut && output->tied >= 0)
      continue;
    bool written = isOut || llvm::any_of(analysis.outputs, [&](const Output &o) { return o.tied == i; });
    std::string type = memoryType(analysis.layout(i).getElementType()).str();
    parameters.push_back((written ? "" : "const ") + type + (aliased[i] ? " *" : " *__restrict ") + pointers[i]);
  }
  return wrapCall(std::string(flavour.kernelPrefix) + kernelFunction(analysis.kernel.getSymName()), parameters, " {");
}

/// Whether `text` has the identifier `name` in it.
static bool mentions(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

FailureOr<std::string> KernelWriter::print() {
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < numIns; ++i)
    pointers.push_back("a" + std::to_string(i));
  for (const Output &output : analysis.outputs)
    pointers.push_back("o" + std::to_string(output.number));
  for (const Output &output : analysis.outputs)
    if (output.tied >= 0)
      pointers[output.tied] = pointers[numIns + output.number] = "io" + std::to_string(output.number);

  if (lanesOutside())
    printLanesOutside();
  else
    printRowsOutside();
  if (hasFailed)
    return failure();

  std::string body;
  if (llvm::any_of(lines[0], [](StringRef line) { return mentions(line, "L"); }))
    body = "  constexpr int64_t L = " + std::to_string(analysis.lanes) + ";\n";
  for (StringRef text : lines[0]) {
    SmallVector<StringRef> parts;
    text.split(parts, '\n');
    for (StringRef part : parts)
      body += "  " + part.str() + "\n";
  }
  std::string head = signature();
  // Kernels of one row, or one value, do not ask for the block.
  if (!mentions(body, "block")) {
    StringRef parameter = flavour.blockParameter;
    head.replace(head.find(parameter), parameter.size(), parameter.split(' ').first);
  }
  return headComment() + head + "\n" + body + "}\n";
}

FailureOr<std::string> codegen::printKernel(const KernelAnalysis &analysis, const llvm::SmallBitVector &aliased,
                                            const Flavour &flavour) {
  return KernelWriter(analysis, aliased, flavour).print();
}
