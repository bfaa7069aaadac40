//===- Codegen.cpp - from a program in memory form to C++ -----------------===//

#include "compiler/Codegen/Codegen.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/StepPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

/// Checks that the runtime knows the types of all elements in the arena.
static LogicalResult verifyElements(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    Type type;
    if (auto ref = dyn_cast<exec::RefOp>(op))
      type = ref.getType().getElementType();
    else if (auto tensor = dyn_cast<exec::TensorOp>(op))
      type = cast<RankedTensorType>(tensor.getType()).getElementType();
    else if (auto buffer = dyn_cast<exec::BufferOp>(op); buffer && buffer.getType())
      type = cast<RankedTensorType>(*buffer.getType()).getElementType();
    if (!type || type.isF64() || type.isF32() || type.isBF16() || type.isInteger(32) || type.isInteger(64) ||
        type.isInteger(8) || type.isInteger(1))
      return WalkResult::advance();
    op->emitError() << "has elements of type " << type << "; a binary has f64, f32, bf16, i32, i64, i8 and i1";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static FailureOr<KernelTable> analyseKernels(ModuleOp module, const ArenaMap &arena, const TargetInfo &target) {
  KernelTable kernels;
  Alignments alignments = findAlignments(module, arena);
  llvm::DenseSet<StringAttr> batched = findBatched(module);
  for (auto kernel : module.getOps<exec::KernelDefOp>()) {
    FailureOr<KernelAnalysis> analysis = KernelAnalysis::compute(kernel, target.name);
    if (failed(analysis))
      return failure();
    LaunchShape shape;
    if (target.launch)
      shape = launchShape(*analysis, *target.launch, alignments.lookup(kernel.getSymNameAttr()),
                          batched.contains(kernel.getSymNameAttr()));
    kernels[kernel.getSymNameAttr()] = {std::move(*analysis), std::move(shape)};
  }
  return kernels;
}

/// Returns the file name "kernels.cuh" as the name of a macro.
static std::string guardOf(StringRef file) { return identifier(StringRef(file).upper()); }

static FailureOr<std::string> printKernels(ModuleOp module, const ArenaMap &arena, const KernelTable &kernels,
                                           const StepEmitter &emitter) {
  auto aliased = findAliased(module, arena);
  std::string guard = guardOf(emitter.kernelsFile);
  std::string text = "// The kernels of the model.\n#ifndef " + guard + "\n#define " + guard + "\n\n#include \"" +
                     emitter.kernelLayer.str() + "\"\n\nnamespace braid {\n";
  for (auto &[symbol, toPrint] : kernels) {
    const KernelAnalysis &analysis = toPrint.analysis;
    llvm::SmallBitVector &bits = aliased[symbol];
    bits.resize(analysis.kernel.getLayouts().size());
    FailureOr<std::string> kernel = printKernel({analysis, toPrint.shape}, bits, emitter.kernels);
    if (failed(kernel))
      return failure();
    text += "\n" + *kernel;
  }
  return text + "\n} // namespace braid\n#endif // " + guard + "\n";
}

static std::string printStepHeader(ModuleOp module) {
  std::string text = "// The entry points of the model.\n#ifndef STEP_H\n#define STEP_H\n\n"
                     "#include \"braid_rt.h\"\n\nnamespace braid {\n";
  for (auto program : module.getOps<exec::ProgramOp>())
    text += "br_status " + programFunction(program.getSymName()) + "(br_context *ctx);\n";
  return text + "} // namespace braid\n#endif // STEP_H\n";
}

FailureOr<std::vector<SourceFile>> braid::generateSources(ModuleOp module, StringRef planJson) {
  const TargetInfo *target = targetOf(module);
  if (!target)
    return failure();
  const StepEmitter *emitter = findStepEmitter(target->name);
  if (!emitter)
    return module.emitError() << "no code is generated for the target '" << target->name << "'";
  if (failed(verifyElements(module)))
    return failure();
  ArenaMap arena(module);
  FailureOr<KernelTable> kernels = analyseKernels(module, arena, *target);
  if (failed(kernels))
    return failure();
  FailureOr<std::string> kernelText = printKernels(module, arena, *kernels, *emitter);
  if (failed(kernelText))
    return failure();
  FailureOr<RankTables> ranks = RankTables::create(module);
  if (failed(ranks))
    return failure();
  FailureOr<PipelineTables> pipeline = PipelineTables::create(module);
  if (failed(pipeline))
    return failure();
  StepPrinter steps(module, arena, *kernels, *ranks, *pipeline, *target, *emitter);
  FailureOr<std::string> stepText = steps.print();
  if (failed(stepText))
    return failure();
  FailureOr<std::string> modelText = printModel(module, steps, *ranks, *pipeline, planJson);
  if (failed(modelText))
    return failure();
  return std::vector<SourceFile>{{emitter->kernelsFile.str(), std::move(*kernelText)},
                                 {"step.h", printStepHeader(module)},
                                 {emitter->stepFile.str(), std::move(*stepText)},
                                 {"model.cpp", std::move(*modelText)}};
}
