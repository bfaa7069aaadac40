//===- KernelEmitterCpu.cpp - emits kernels for the CPU -------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelEmitter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

const CpuKernelEmitter codegen::cpuKernelEmitter;

std::string CpuKernelEmitter::head(const KernelForm &kernel, const std::string &function,
                                   ArrayRef<Parameter> parameters, StringRef body) const {
  SmallVector<std::string> list{"Block block"};
  for (const Parameter &parameter : parameters)
    list.push_back(parameter.type + (parameter.aliased ? " *" : " *__restrict ") + parameter.name);
  std::string text = wrapCall("static void " + function, list, " {") + "\n";
  // Kernels with a single row or value do not use the block.
  if (!containsIdentifier(body, "block"))
    text.replace(text.find(list[0]), list[0].size(), "Block");
  if (containsIdentifier(body, "L"))
    text += "  constexpr int64_t L = " + std::to_string(kernel.analysis.lanes) + ";\n";
  return text;
}

LoopText CpuKernelEmitter::rowLoop(const KernelForm &kernel) const {
  if (kernel.analysis.rows == 1)
    return {};
  return {"for (int64_t r = block.begin; r < block.end; ++r) {"};
}

LoopText CpuKernelEmitter::innerRowLoop(const KernelForm &kernel, StringRef first, StringRef last) const {
  if (kernel.analysis.rows == 1)
    return {};
  return {("for (int64_t r = " + first + "; r < " + last + "; ++r) {").str()};
}

LoopText CpuKernelEmitter::laneLoop(const KernelForm &kernel, bool ofBlock, ArrayRef<std::string>) const {
  StringRef begin = ofBlock ? "block.begin" : "0", end = ofBlock ? "block.end" : "L";
  if (wholeLanes(kernel))
    return {("for (int64_t l = " + begin + "; l < " + end + "; l += W) {").str()};
  return {("lanes(" + begin + ", " + end + ", [&](int64_t l, auto n) {").str(), "});"};
}

std::string CpuKernelEmitter::element(StringRef pointer, unsigned index) const {
  return (pointer + "[" + Twine(index) + "]").str();
}
