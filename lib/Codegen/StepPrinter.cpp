//===- StepPrinter.cpp - programs as C++ functions ------------------------===//

#include "lib/Codegen/StepPrinter.h"
#include "dialects/Comm/Comm.h"
#include "lib/Codegen/ArenaText.h"
#include "lib/Codegen/Chapters.h"
#include "lib/Codegen/CppText.h"
#include "lib/Codegen/KernelPrinter.h"
#include "lib/Codegen/ModelPrinter.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

const StepFlavour *codegen::findStepFlavour(StringRef target) {
  for (const StepFlavour *flavour : {&cpuSteps, &cudaSteps})
    if (flavour->target == target)
      return flavour;
  return nullptr;
}

std::string codegen::programFunction(StringRef symbol) { return "step_" + identifier(symbol); }

std::string StepPrinter::addressText(Value ref) const {
  return ref ? "m[" + std::to_string(arena.offsetOf(ref)) + "]" : "nullptr";
}

void StepPrinter::printCall(StringRef function, ArrayRef<std::string> arguments) {
  calls += wrapCall("  " + function.str(), arguments, ";") + "\n";
}

/// A function of the runtime that is told its element type; on a device, a template.
void StepPrinter::printTyped(StringRef function, Type element, SmallVector<std::string> arguments) {
  if (flavour.onDevice) {
    arguments.insert(arguments.begin(), "m");
    StringRef type = element.isF64() ? "double" : memoryType(element);
    return printCall((function + "<" + type + ">").str(), arguments);
  }
  arguments.insert(arguments.begin(), {"ctx", dtypeText(element)});
  printCall(("br_" + function).str(), arguments);
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

static StringRef epilogueText(exec::Epilogue epilogue) {
  switch (epilogue) {
  case exec::Epilogue::None:
    return "BR_EPILOGUE_NONE";
  case exec::Epilogue::GeluTanh:
    return "BR_EPILOGUE_GELU_TANH";
  case exec::Epilogue::GeluErf:
    return "BR_EPILOGUE_GELU_ERF";
  case exec::Epilogue::Silu:
    return "BR_EPILOGUE_SILU";
  case exec::Epilogue::GeluTanhGrad:
    return "BR_EPILOGUE_GELU_TANH_GRAD";
  }
  llvm_unreachable("unknown epilogue");
}

/// Where GELU's input is kept or read: whether, elements a row, and place.
std::string StepPrinter::auxText(exec::MatmulOp op, int64_t columns) {
  Value aux = op.keepsInput() ? op.getOuts()[1] : op.getAux();
  return aux ? "1, " + std::to_string(columns) + ", " + std::to_string(arena.offsetOf(aux)) : "0, 0, 0";
}

/// Which operand of the GEMM is summed for the gradient of a bias, and where that goes.
std::string StepPrinter::biasGradText(exec::MatmulOp op, bool swapped) {
  if (!op.getBiasGrad())
    return "BR_BIAS_GRAD_NONE, 0";
  bool isLeft = (*op.getBiasGrad() == exec::Side::Lhs) != swapped;
  return (isLeft ? "BR_BIAS_GRAD_A, " : "BR_BIAS_GRAD_B, ") + std::to_string(arena.offsetOf(op.getOuts()[1]));
}

LogicalResult StepPrinter::printMatmul(exec::MatmulOp op) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  Value out = op.getOuts()[0];
  std::string reason;
  FailureOr<MatmulShape> shape = matmulShape(op.getSpec(), type(op.getLhs()), type(op.getRhs()), type(out), &reason);
  if (failed(shape))
    return op.emitError() << reason;
  if (shape->batch.size() > 6 || shape->outer.size() > 6)
    return op.emitError() << "\"" << op.getSpec() << "\" needs more than 6 loops around its matrices";
  if (op.getBias() && type(op.getBias()).getTensorType().getNumElements() != shape->n)
    return op.emitError() << "the bias has " << type(op.getBias()).getTensorType().getNumElements()
                          << " elements, but the GEMM of \"" << op.getSpec() << "\" has " << shape->n << " columns";
  if (op.getBiasGrad() && !(shape->batch.empty() && shape->outer.empty()))
    return op.emitError() << "sums an operand for the gradient of a bias, but \"" << op.getSpec()
                          << "\" is several products of the library";
  Value lhs = shape->swapped ? op.getRhs() : op.getLhs(), rhs = shape->swapped ? op.getLhs() : op.getRhs();

  auto loops = [](ArrayRef<MatmulLoop> loops, int64_t MatmulLoop::*member) {
    return listText(llvm::map_to_vector(loops, [&](const MatmulLoop &loop) { return loop.*member; }));
  };
  std::string row;
  llvm::raw_string_ostream os(row);
  os << "    {" << shape->m << ", " << shape->n << ", " << shape->k << ", // m, n, k\n     " << shape->lhsM << ", "
     << shape->lhsK << ", " << shape->rhsK << ", " << shape->rhsN << ", " << shape->outM << ", " << shape->outN
     << ", // strides of A, B and C\n     " << shape->batch.size() << ", " << loops(shape->batch, &MatmulLoop::size)
     << ", " << loops(shape->batch, &MatmulLoop::lhs) << ", " << loops(shape->batch, &MatmulLoop::rhs) << ", "
     << loops(shape->batch, &MatmulLoop::out) << ", // batch\n     " << shape->outer.size() << ", "
     << loops(shape->outer, &MatmulLoop::size) << ", " << loops(shape->outer, &MatmulLoop::lhs) << ", "
     << loops(shape->outer, &MatmulLoop::rhs) << ", // outer\n     " << dtypeText(type(lhs).getElementType()) << ", "
     << dtypeText(type(rhs).getElementType()) << ", " << dtypeText(type(out).getElementType()) << ", "
     << (op.getBias() ? 1 : 0) << ", " << (op.getBias() ? dtypeText(type(op.getBias()).getElementType()) : "BR_F32")
     << ", " << (op.getAccumulator() ? 1 : 0) << ", " << epilogueText(op.getEpilogue()) << ",\n     " << workspaceOffset
     << ", " << workspaceBytes << ", " << auxText(op, shape->n) << ", " << biasGradText(op, shape->swapped) << "},";
  Rows &matmuls = matmulsOf[kind];
  auto [it, isNew] = matmuls.index.try_emplace(row, matmuls.rows.size());
  if (isNew)
    matmuls.rows.push_back(row);

  printCall("br_matmul", {"ctx", std::to_string(it->second), addressText(lhs), addressText(rhs), addressText(out),
                          addressText(op.getBias())});
  return success();
}

/// What the runtime takes: contiguous operands, and indices of 32 bits.
LogicalResult StepPrinter::verifyRows(Operation *op, exec::RefType indices, ArrayRef<exec::RefType> operands) {
  if (!indices.getElementType().isInteger(32))
    return op->emitError() << "indices of type " << indices.getElementType() << " are not supported; the "
                           << flavour.target << " target reads i32";
  if (!indices.isContiguous() || !llvm::all_of(operands, [](exec::RefType type) { return type.isContiguous(); }))
    return op->emitError() << "the " << flavour.target << " target's "
                           << cast<exec::ActionOpInterface>(op).getActionName() << " needs contiguous operands";
  return success();
}

LogicalResult StepPrinter::printGather(exec::GatherOp op) {
  auto table = cast<exec::RefType>(op.getTable().getType()), indices = cast<exec::RefType>(op.getIndices().getType());
  if (failed(verifyRows(op, indices, {table, cast<exec::RefType>(op.getOuts()[0].getType())})))
    return failure();
  int64_t rows = table.getShape()[0], count = indices.getTensorType().getNumElements();
  printTyped("gather", table.getElementType(),
             {std::to_string(count), std::to_string(rows),
              std::to_string(table.getTensorType().getNumElements() / rows), addressText(op.getTable()),
              addressText(op.getIndices()), addressText(op.getOuts()[0])});
  return success();
}

LogicalResult StepPrinter::printScatterAdd(exec::ScatterAddOp op) {
  auto indices = cast<exec::RefType>(op.getIndices().getType()),
       updates = cast<exec::RefType>(op.getUpdates().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (failed(verifyRows(op, indices, {updates, out})))
    return failure();
  int64_t rows = out.getShape()[0], count = indices.getTensorType().getNumElements();
  SmallVector<std::string> arguments{std::to_string(count),
                                     std::to_string(rows),
                                     std::to_string(out.getTensorType().getNumElements() / rows),
                                     addressText(op.getIndices()),
                                     addressText(op.getUpdates()),
                                     op.getAccumulator() ? "1" : "0",
                                     addressText(op.getOuts()[0])};
  uint64_t scratch = op.getWorkspaceBytes(lookupTarget(flavour.target)->workspace);
  if (scratch > workspaceBytes)
    return op.emitError() << "sorts in " << scratch << " bytes of scratch memory, but the program has "
                          << workspaceBytes << "; it was not planned for the " << flavour.target << " target";
  if (flavour.onDevice)
    arguments.push_back("m[" + std::to_string(workspaceOffset) + "]");
  printTyped("scatter_add", out.getElementType(), std::move(arguments));
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult StepPrinter::printAction(Operation *op) {
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    return printLaunch(launch);
  if (auto matmul = dyn_cast<exec::MatmulOp>(op))
    return printMatmul(matmul);
  if (auto attention = dyn_cast<exec::AttentionOp>(op))
    return printAttention(attention);
  if (auto gradient = dyn_cast<exec::AttentionGradOp>(op))
    return printAttentionGrad(gradient);
  if (auto gather = dyn_cast<exec::GatherOp>(op))
    return printGather(gather);
  if (auto scatter = dyn_cast<exec::ScatterAddOp>(op))
    return printScatterAdd(scatter);
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return printCollective(collective);
  if (auto start = dyn_cast<comm::StartOp>(op))
    return printStart(start);
  if (auto wait = dyn_cast<comm::WaitOp>(op))
    return printWait(wait);
  if (auto index = dyn_cast<comm::AxisIndexOp>(op))
    return printAxisIndex(index);
  if (auto slice = dyn_cast<comm::SliceOp>(op))
    return printSlice(slice);
  if (auto assemble = dyn_cast<comm::AssembleOp>(op))
    return printAssemble(assemble);
  return op->emitError() << "no code is generated for " << op->getName()
                         << " yet; has the module been brought into memory form?";
}

/// Cuts a long list into parts of about as many actions, the last of those that are left,
/// where chapters begin as far as they do.
static SmallVector<ArrayRef<ActionText>> cutParts(ArrayRef<ActionText> actions) {
  constexpr size_t least = 48, most = 80;
  SmallVector<ArrayRef<ActionText>> parts;
  while (actions.size() > most) {
    size_t end = least;
    while (end < most && !actions[end].beginsChapter)
      ++end;
    parts.push_back(actions.take_front(end));
    actions = actions.drop_front(end);
  }
  parts.push_back(actions);
  return parts;
}

/// A function that runs these actions, or, as compilers take more than linear time
/// for long functions, several that run a part each.
std::string StepPrinter::programText(StringRef function, ArrayRef<ActionText> actions) {
  std::string head = "(br_context *ctx) {\n  const Memory m(ctx);\n",
              end = "  return " + flavour.status.str() + ";\n}\n";
  auto join = [](ArrayRef<ActionText> actions) {
    return llvm::join(llvm::map_range(actions, [](const ActionText &action) { return action.text; }), "\n");
  };
  SmallVector<ArrayRef<ActionText>> cut = cutParts(actions);
  if (actions.empty())
    return "br_status " + function.str() + "(br_context *) { return BR_OK; }\n";
  if (cut.size() == 1)
    return "br_status " + function.str() + head + "\n" + join(actions) + end;
  std::string parts, body, unused = "[[maybe_unused]] ";
  for (auto [number, its] : llvm::enumerate(cut)) {
    std::string name = function.str() + "_" + std::to_string(number);
    parts += "static br_status " + name + "(" + (flavour.onDevice ? unused : "") + "br_context *ctx, " + unused +
             "const Memory m) {\n" + join(its) + end + "\n";
    body += "  if (" + name + "(ctx, m) != BR_OK)\n    return BR_ERROR;\n";
  }
  return parts + "br_status " + function.str() + head + body + "  return BR_OK;\n}\n";
}

/// "  // ---- forward: h.0 ----", and an empty line.
static std::string chapterText(StringRef chapter) {
  return chapter.empty() ? "" : "  // ---- " + chapter.str() + " ----\n\n";
}

/// Names are long: these lines may be as well.
static std::string stepComment(StringRef text) {
  return text.empty() ? "" : comment(text, "  ", /*columns=*/120, /*hang=*/2);
}

LogicalResult StepPrinter::printProgram(exec::ProgramOp program) {
  kind = ranks.kindOf(program);
  workspaceOffset = workspaceBytes = 0;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.isScratch()) {
      workspaceOffset = buffer.getOffset();
      workspaceBytes = buffer.getBytes();
    }
  SmallVector<ActionText> actions;
  std::vector<std::string> &texts = actionNames[program];
  BufferNames names(program, arena);
  Chapters chapters(program, arena);
  for (Operation &op : program.getBody().front()) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action)
      continue;
    calls.clear();
    if (failed(printAction(&op)))
      return failure();
    std::string number = std::to_string(texts.size()), chapter = chapters.begin(action);
    names.enter(action, texts.size());
    texts.push_back(actionText(&op, names));
    std::string mark = flavour.onDevice ? "  m.at(" + number + ");\n" : "";
    actions.push_back({chapterText(chapter) + stepComment(number + ": " + texts.back()) +
                           stepComment(noteText(&op, names)) + mark + calls,
                       !chapter.empty()});
  }
  programs += "\n" + (flavour.onDevice ? sectionText(program.getSymName()) : "") + arenaText(program, names) +
              programText(programFunction(program.getSymName()), actions);
  return success();
}

/// Loads the kernels of a device at the start.
static std::string preloadText(const KernelTable &kernels) {
  std::vector<std::string> names;
  for (auto &[symbol, kernel] : kernels)
    names.push_back(kernelFunction(symbol.getValue()));
  if (names.empty())
    return "";
  return "\n" + sectionText("Kernels, which are loaded at the start") +
         wrapCall("static const Preload kernels", names, ";") + "\n";
}

FailureOr<std::string> StepPrinter::print() {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(printProgram(program)))
      return failure();
  std::string arenaTable, preload;
  if (flavour.onDevice) {
    preload = preloadText(kernels);
    arenaTable = sectionText("The arena") + tensorsText(module) + "\n" +
                 (tables.empty() ? "" : sectionText("Launches over many vectors, and copies of blocks"));
  }
  return "// The programs of the model: kernels and library calls in their order.\n#include \"" +
         flavour.kernelsFile.str() + "\"\n#include \"step.h\"\n" + flavour.stepIncludes.str() +
         "\nnamespace braid {\n\n" + arenaTable + tables +
         StringRef(programs).drop_front(programs.empty() ? 0 : 1).str() + preload + "\n} // namespace braid\n";
}
