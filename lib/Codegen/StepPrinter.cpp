//===- StepPrinter.cpp - programs as C++ functions ------------------------===//

#include "lib/Codegen/StepPrinter.h"
#include "dialects/Comm/Comm.h"
#include "lib/Codegen/CppText.h"
#include "lib/Codegen/KernelPrinter.h"
#include "lib/Codegen/ModelPrinter.h"
#include "lib/Target/MatmulShape.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

std::string codegen::programFunction(StringRef symbol) { return "step_" + identifier(symbol); }

std::string StepPrinter::addressText(Value ref) const {
  return ref ? "m[" + std::to_string(arena.offsetOf(ref)) + "]" : "nullptr";
}

void StepPrinter::printCall(StringRef function, ArrayRef<std::string> arguments) {
  actionText += wrapCall("  " + function.str(), arguments, ";") + "\n";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The operands that a kernel's function takes: an out that is an operand is one
/// pointer with it.
static SmallVector<Value> pointersOf(exec::LaunchOp op, const KernelAnalysis &kernel, uint64_t tuple) {
  size_t numIns = op.getIns().size() / op.getBatch(), numOuts = op.getOuts().size() / op.getBatch();
  SmallVector<Value> pointers(op.getIns().slice(tuple * numIns, numIns));
  for (const Output &output : kernel.outputs)
    if (output.tied < 0)
      pointers.push_back(op.getOuts()[tuple * numOuts + output.number]);
  return pointers;
}

static int64_t elements(Value ref) { return cast<exec::RefType>(ref.getType()).getTensorType().getNumElements(); }

LogicalResult StepPrinter::printLaunch(exec::LaunchOp op) {
  auto it = kernels.find(op.getKernelAttr().getAttr());
  if (it == kernels.end())
    return op.emitError() << "kernel " << op.getKernelAttr() << " is not defined in the module";
  const KernelAnalysis &kernel = it->second;
  if (kernel.flat && op.getBatch() > 1) {
    printTable(op, kernel);
    return success();
  }

  size_t numOuts = op.getOuts().size() / op.getBatch();
  for (uint64_t tuple = 0; tuple < op.getBatch(); ++tuple) {
    SmallVector<std::string> arguments{"ctx"};
    StringRef launch;
    switch (kernel.partition) {
    case Partition::Rows:
      launch = "launch_rows";
      arguments.push_back(std::to_string(kernel.rows));
      break;
    case Partition::Blocks:
      launch = "launch_blocks";
      arguments.push_back(std::to_string(kernel.blocks()));
      arguments.push_back(std::to_string(kernel.rows / kernel.blocks()));
      break;
    case Partition::Lanes:
      launch = "launch_lanes";
      arguments.push_back(std::to_string(kernel.rows));
      break;
    }
    arguments.push_back(std::to_string(kernel.flat ? elements(op.getOuts()[tuple * numOuts]) : kernel.lanes));
    arguments.push_back(kernelFunction(op.getKernel()));
    for (Value pointer : pointersOf(op, kernel, tuple))
      arguments.push_back(addressText(pointer));
    printCall(launch, arguments);
  }
  return success();
}

/// A launch over many vectors: their lengths and places are a constant table.
void StepPrinter::printTable(exec::LaunchOp op, const KernelAnalysis &kernel) {
  std::string name = kernelFunction(op.getKernel()) + "_table" + std::to_string(numTables++);
  size_t numOuts = op.getOuts().size() / op.getBatch(), numPointers = pointersOf(op, kernel, 0).size();
  tables += "static constexpr Tuple<" + std::to_string(numPointers) + "> " + name + "[] = {\n";
  for (uint64_t tuple = 0; tuple < op.getBatch(); ++tuple) {
    Value out = op.getOuts()[tuple * numOuts];
    std::string offsets = llvm::join(
        llvm::map_range(pointersOf(op, kernel, tuple), [&](Value ref) { return std::to_string(arena.offsetOf(ref)); }), ", ");
    tables += "    {" + std::to_string(elements(out)) + ", {" + offsets + "}}, // " + arena.nameOf(out).str() + "\n";
  }
  tables += "};\n\n";
  printCall("launch_table", {"ctx", "m", name, kernelFunction(op.getKernel())});
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
  }
  llvm_unreachable("unknown epilogue");
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
     << (op.getBias() ? 1 : 0) << ", " << (op.getBias() ? dtypeText(type(op.getBias()).getElementType()) : "BR_F32") << ", "
     << (op.getAccumulator() ? 1 : 0) << ", " << epilogueText(op.getEpilogue())
     << ",\n     " << workspaceOffset << ", " << workspaceBytes << "},";
  Matmuls &matmuls = matmulsOf[kind];
  auto [it, isNew] = matmuls.index.try_emplace(row, matmuls.rows.size());
  if (isNew)
    matmuls.rows.push_back(row);

  printCall("br_matmul", {"ctx", std::to_string(it->second), addressText(lhs), addressText(rhs), addressText(out),
                          addressText(op.getBias())});
  return success();
}

LogicalResult StepPrinter::printGather(exec::GatherOp op) {
  auto table = cast<exec::RefType>(op.getTable().getType()), indices = cast<exec::RefType>(op.getIndices().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (!indices.getElementType().isInteger(32))
    return op.emitError() << "indices of type " << indices.getElementType() << " are not supported; the cpu target reads i32";
  if (!table.isContiguous() || !indices.isContiguous() || !out.isContiguous())
    return op.emitError() << "the cpu target's gather needs contiguous operands";
  int64_t rows = table.getShape()[0], count = indices.getTensorType().getNumElements();
  printCall("br_gather", {"ctx", dtypeText(table.getElementType()), std::to_string(count), std::to_string(rows),
                          std::to_string(table.getTensorType().getNumElements() / rows), addressText(op.getTable()),
                          addressText(op.getIndices()), addressText(op.getOuts()[0])});
  return success();
}

LogicalResult StepPrinter::printScatterAdd(exec::ScatterAddOp op) {
  auto indices = cast<exec::RefType>(op.getIndices().getType()), updates = cast<exec::RefType>(op.getUpdates().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (!indices.getElementType().isInteger(32))
    return op.emitError() << "indices of type " << indices.getElementType() << " are not supported; the cpu target reads i32";
  if (!updates.isContiguous() || !indices.isContiguous() || !out.isContiguous())
    return op.emitError() << "the cpu target's scatter_add needs contiguous operands";
  int64_t rows = out.getShape()[0], count = indices.getTensorType().getNumElements();
  printCall("br_scatter_add", {"ctx", dtypeText(out.getElementType()), std::to_string(count), std::to_string(rows),
                               std::to_string(out.getTensorType().getNumElements() / rows), addressText(op.getIndices()),
                               addressText(op.getUpdates()), op.getAccumulator() ? "1" : "0", addressText(op.getOuts()[0])});
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// "12: matmul -> h.0.mlp.c_fc [256 x 3072]; gpt.mlir:40".
std::string StepPrinter::actionComment(Operation *op, unsigned number) {
  auto action = cast<exec::ActionOpInterface>(op);
  std::string text = std::to_string(number) + ": " + action.getActionName();
  OperandRange outs = action.getActionOuts();
  if (!outs.empty()) {
    auto launch = dyn_cast<exec::LaunchOp>(op);
    if (launch && launch.getBatch() > 1)
      text += " of " + std::to_string(launch.getBatch()) + " tuples";
    else
      text += " -> " + arena.nameOf(outs[0]).str() + " [" + shapeText(cast<exec::RefType>(outs[0].getType()).getShape()) + "]";
  }
  text += collectiveText(op);
  std::string origin = originText(op->getLoc());
  return comment(text + (origin.empty() ? "" : "; " + origin), "  ");
}

LogicalResult StepPrinter::printAction(Operation *op) {
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    return printLaunch(launch);
  if (auto matmul = dyn_cast<exec::MatmulOp>(op))
    return printMatmul(matmul);
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

/// The arena of a program as a comment: what lies where, from when to when.
static std::string arenaComment(exec::ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// " << program.getSymName() << ": an arena of " << program.getArenaBytes()
     << " bytes; transient buffers and the actions they live for\n//\n"
     << "//        offset        bytes    first     last  cause            name\n";
  for (auto buffer : program.getOps<exec::BufferOp>())
    os << llvm::format("//  %12lld %12lld %8lld %8lld  %-16s ", static_cast<long long>(buffer.getOffset()),
                       static_cast<long long>(buffer.getBytes()), static_cast<long long>(buffer.getFirst()),
                       static_cast<long long>(buffer.getLast()), buffer.getCause().str().c_str())
       << buffer.getName() << "\n";
  return text;
}

/// A function that runs these actions, or, as compilers take more than linear time
/// for long functions, several that run a part each.
static std::string programText(StringRef function, ArrayRef<std::string> actions) {
  constexpr size_t partActions = 64;
  std::string head = "(br_context *ctx) {\n  const Memory m(ctx);\n";
  if (actions.empty())
    return "br_status " + function.str() + "(br_context *) { return BR_OK; }\n";
  if (actions.size() <= partActions)
    return "br_status " + function.str() + head + "\n" + llvm::join(actions, "\n") + "  return BR_OK;\n}\n";
  std::string parts, calls;
  for (size_t part = 0; part * partActions < actions.size(); ++part) {
    std::string name = function.str() + "_" + std::to_string(part);
    ArrayRef<std::string> its = actions.drop_front(part * partActions);
    parts += "static br_status " + name + "(br_context *ctx, [[maybe_unused]] const Memory m) {\n" +
             llvm::join(its.take_front(partActions), "\n") + "  return BR_OK;\n}\n\n";
    calls += "  if (" + name + "(ctx, m) != BR_OK)\n    return BR_ERROR;\n";
  }
  return parts + "br_status " + function.str() + head + calls + "  return BR_OK;\n}\n";
}

LogicalResult StepPrinter::printProgram(exec::ProgramOp program) {
  kind = ranks.kindOf(program);
  workspaceOffset = workspaceBytes = 0;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.isScratch()) {
      workspaceOffset = buffer.getOffset();
      workspaceBytes = buffer.getBytes();
    }
  SmallVector<std::string> actions;
  for (Operation &op : program.getBody().front()) {
    if (!isa<exec::ActionOpInterface>(op))
      continue;
    actionText.clear();
    if (failed(printAction(&op)))
      return failure();
    actions.push_back(actionComment(&op, actions.size()) + actionText);
  }
  programs += "\n" + arenaComment(program) + programText(programFunction(program.getSymName()), actions);
  return success();
}

FailureOr<std::string> StepPrinter::print() {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(printProgram(program)))
      return failure();
  return "// The programs of the model: kernels and library calls in their order.\n"
         "#include \"kernels.h\"\n#include \"step.h\"\n\nnamespace braid {\n\n" +
         tables + StringRef(programs).drop_front(programs.empty() ? 0 : 1).str() + "\n} // namespace braid\n";
}
