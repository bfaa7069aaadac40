//===- KernelPrinter.cpp - one kernel as a C++ function ------------------===//

#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelWriter.h"
#include "dialects/TG/ValueNames.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

std::string codegen::kernelFunction(StringRef symbol) { return identifier(symbol) + "_kernel"; }

std::string KernelWriter::headComment() {
  std::string text = analysis.kernel.getSymName().str() + ": ";
  if (analysis.flat)
    text += "vectors of any length";
  else if (analysis.anyRows)
    text += "any number of rows of " + std::to_string(analysis.lanes) + " lanes";
  else if (analysis.rows * analysis.lanes == 1)
    text += "one value";
  else if (analysis.rowSizes.empty())
    text += std::to_string(analysis.lanes) + " lanes";
  else
    text += shapeText(analysis.rowSizes) + " rows of " + std::to_string(analysis.lanes) + " lanes";
  if (analysis.partition == Partition::Blocks)
    text += ", " + std::to_string(analysis.blocks()) + " blocks";
  text += emitter.comment(form);
  std::string origin = originText(analysis.kernel.getLoc());
  if (!origin.empty())
    text += "; from " + origin;
  return comment(text);
}

SmallVector<Parameter> KernelWriter::parameters() {
  SmallVector<Parameter> parameters;
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < analysis.kernel.getLayouts().size(); ++i) {
    bool isOut = i >= numIns;
    const Output *output = isOut ? &analysis.outputs[i - numIns] : nullptr;
    if (isOut && output->tied >= 0)
      continue;
    bool written = isOut || llvm::any_of(analysis.outputs, [&](const Output &o) { return o.tied == i; });
    std::string type = memoryType(analysis.layout(i).getElementType()).str();
    parameters.push_back({(written ? "" : "const ") + type, aliased[i], pointers[i]});
  }
  return parameters;
}

void KernelWriter::namePointers() {
  unsigned numIns = analysis.numIns();
  for (unsigned i = 0; i < numIns; ++i)
    pointers.push_back("a" + std::to_string(i));
  for (const Output &output : analysis.outputs)
    pointers.push_back("o" + std::to_string(output.number));
  for (const Output &output : analysis.outputs)
    if (output.tied >= 0)
      pointers[output.tied] = pointers[numIns + output.number] = "io" + std::to_string(output.number);
  // An overwritten operand keeps its name.
  for (auto [pointer, argument] : llvm::zip(pointers, analysis.kernel.getBody().getArguments()))
    naming.suggest(pointer, tg::valueNameOf(argument.getLoc()));
  for (const Output &output : analysis.outputs)
    naming.suggest(pointers[numIns + output.number], tg::nameOfResult(output.node->op));
}

void KernelWriter::nameValue(const Expr &value, Operation *op) {
  StringRef number = value.text;
  if (number.consume_front("t") && !number.empty() && llvm::all_of(number, llvm::isDigit))
    naming.suggest(value.text, tg::valueNameOf(op->getLoc()));
}

FailureOr<std::string> KernelWriter::print() {
  namePointers();
  if (lanesOutside())
    printLanesOutside();
  else
    printRowsOutside();
  if (hasFailed)
    return failure();
  if (llvm::any_of(analysis.outputs, [&](const Output &output) { return analysis.isStreamed(output); }))
    lines[0].push_back("end_streams();");

  std::string body;
  for (StringRef text : lines[0]) {
    SmallVector<StringRef> parts;
    text.split(parts, '\n');
    for (StringRef part : parts)
      body += (part.starts_with("#") ? "" : "  ") + part.str() + "\n";
  }
  auto head = [&] { return emitter.head(form, kernelFunction(analysis.kernel.getSymName()), parameters(), body); };
  naming.choose(head() + body, pointers);
  for (std::string &pointer : pointers)
    pointer = naming.apply(pointer);
  body = naming.apply(body);
  return headComment() + head() + body + "}\n";
}

FailureOr<std::string> codegen::printKernel(const KernelForm &kernel, const llvm::SmallBitVector &aliased,
                                            const KernelEmitter &emitter) {
  KernelWriter draft(kernel, aliased, emitter);
  FailureOr<std::string> text = draft.print();
  bool readsLate = !emitter.nextRow(kernel).empty() ||
                   llvm::any_of(draft.firstReads(), [](const auto &entry) { return entry.second.phase > 0; });
  if (failed(text) || !readsLate)
    return text;
  return KernelWriter(kernel, aliased, emitter, draft.firstReads()).print();
}
