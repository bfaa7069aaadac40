//===- KernelBody.cpp - analysis and verification of kernel bodies --------===//

#include "dialects/Exec/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;
using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> exec::dimsOf(GenericOp generic) {
  auto dims = generic->getAttrOfType<DenseI64ArrayAttr>(ExecDialect::kDims);
  return dims ? dims.asArrayRef() : ArrayRef<int64_t>();
}

GenericKind exec::kindOf(GenericOp generic, int64_t lanes) {
  SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
  for (auto [dim, iterator] : llvm::zip(dimsOf(generic), iterators))
    if (iterator == utils::IteratorType::reduction)
      return dim == lanes ? GenericKind::LaneReduction : GenericKind::RowReduction;
  return GenericKind::Parallel;
}

SmallVector<int64_t> exec::operandDims(GenericOp generic, OpOperand &operand) {
  SmallVector<int64_t> dims;
  ArrayRef<int64_t> loops = dimsOf(generic);
  for (AffineExpr expr : generic.getMatchingIndexingMap(&operand).getResults())
    dims.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
  return dims;
}

int64_t exec::blockDims(GenericOp rowReduction) {
  SmallVector<utils::IteratorType> iterators = rowReduction.getIteratorTypesArray();
  return llvm::find(iterators, utils::IteratorType::reduction) - iterators.begin();
}

DenseMap<Operation *, int64_t> exec::phasesOf(Block &body, int64_t lanes) {
  DenseMap<Operation *, int64_t> phases;
  for (auto generic : body.getOps<GenericOp>()) {
    int64_t phase = 0;
    for (Value input : generic.getInputs())
      if (auto producer = input.getDefiningOp<GenericOp>())
        phase = std::max(phase, phases.lookup(producer) + (kindOf(producer, lanes) == GenericKind::LaneReduction));
    phases[generic] = phase;
  }
  return phases;
}

bool exec::writesInPlace(Block &body, int64_t lanes, unsigned result, unsigned in) {
  Value written = body.getTerminator()->getOperand(result);
  auto writer = written.getDefiningOp<GenericOp>();
  if (!writer || kindOf(writer, lanes) != GenericKind::Parallel || written.getType() != body.getArgument(in).getType())
    return false;
  SmallVector<int64_t> dims = operandDims(writer, *writer.getDpsInitOperand(0));
  DenseMap<Operation *, int64_t> phases = phasesOf(body, lanes);
  // A value that depends on the operand may be recomputed in any phase that reads the
  // value, and recomputation reads the operand again.
  llvm::SmallPtrSet<Operation *, 16> dependent;
  for (auto generic : body.getOps<GenericOp>()) {
    bool reads = false;
    for (OpOperand *input : generic.getDpsInputOperands()) {
      if (input->get() == body.getArgument(in)) {
        if (operandDims(generic, *input) != dims)
          return false;
        reads = true;
      }
      reads |= dependent.contains(input->get().getDefiningOp());
    }
    if (reads && phases.lookup(generic) > phases.lookup(writer))
      return false;
    if (reads)
      dependent.insert(generic);
  }
  return llvm::all_of(body.getArgument(in).getUsers(), [](Operation *user) { return isa<GenericOp>(user); });
}

/// Returns whether `dims` are all dims of the space, or none.
static bool isWholeOrScalar(ArrayRef<int64_t> dims, size_t rank) { return dims.empty() || dims.size() == rank; }

bool exec::isElementwiseBody(Block &body, size_t rank) {
  for (auto generic : body.getOps<GenericOp>()) {
    if (kindOf(generic, rank - 1) != GenericKind::Parallel || generic.hasIndexSemantics() ||
        !isWholeOrScalar(dimsOf(generic), rank) || !generic.getRegion().front().getOps<RandomUniformOp>().empty())
      return false;
    for (OpOperand &operand : generic->getOpOperands()) {
      SmallVector<int64_t> dims = operandDims(generic, operand);
      if (!isWholeOrScalar(dims, rank) || !llvm::is_sorted(dims))
        return false;
    }
  }
  return true;
}

static bool endsInLanes(GenericOp generic, OpOperand &operand, int64_t lanes) {
  SmallVector<int64_t> dims = operandDims(generic, operand);
  return !dims.empty() && dims.back() == lanes;
}

bool exec::readsAlongLanes(Block &body, int64_t lanes, unsigned in) {
  return llvm::all_of(body.getArgument(in).getUses(), [&](OpOperand &use) {
    auto generic = dyn_cast<GenericOp>(use.getOwner());
    return generic && endsInLanes(generic, use, lanes);
  });
}

bool exec::writesAlongLanes(Block &body, int64_t lanes, unsigned result) {
  auto writer = body.getTerminator()->getOperand(result).getDefiningOp<GenericOp>();
  return writer && endsInLanes(writer, *writer.getDpsInitOperand(0), lanes);
}

/// Returns the kernel operand from which a scalar of a generic is computed; null if it is not a single operand.
static BlockArgument sourceOf(GenericOp generic, Value scalar) {
  while (Operation *op = scalar.getDefiningOp()) {
    auto varies = llvm::make_filter_range(op->getOperands(),
                                          [](Value operand) { return !operand.getDefiningOp<arith::ConstantOp>(); });
    if (!llvm::hasSingleElement(varies))
      return nullptr;
    scalar = *varies.begin();
  }
  auto argument = cast<BlockArgument>(scalar);
  return argument.getOwner() == generic.getBody()
             ? dyn_cast<BlockArgument>(generic->getOperand(argument.getArgNumber()))
             : nullptr;
}

std::optional<TableRead> exec::tableReadOf(tensor::ExtractOp extract) {
  auto table = dyn_cast<BlockArgument>(extract.getTensor());
  if (!table || extract.getIndices().size() != 2)
    return std::nullopt;
  auto row = extract.getIndices()[0].getDefiningOp<arith::IndexCastOp>();
  auto lane = extract.getIndices()[1].getDefiningOp<linalg::IndexOp>();
  auto generic = dyn_cast<GenericOp>(extract->getParentOp());
  if (!row || !lane || !generic || table.getOwner() != generic->getBlock())
    return std::nullopt;
  return TableRead{table, sourceOf(generic, row.getIn()), row.getIn(), static_cast<unsigned>(lane.getDim())};
}

void exec::visitTableReads(Block &body, llvm::function_ref<void(GenericOp, const TableRead &)> visit) {
  for (auto generic : body.getOps<GenericOp>())
    for (auto extract : generic.getBody()->getOps<tensor::ExtractOp>())
      if (std::optional<TableRead> read = tableReadOf(extract))
        visit(generic, *read);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Checks one body, generic by generic.
struct BodyVerifier {
  Operation *kernel;
  Block &body;
  ArrayRef<int64_t> space;
  int64_t lanes;
  int64_t blocks = -1;

  InFlightDiagnostic error(Operation *at) {
    InFlightDiagnostic diagnostic = kernel->emitOpError();
    diagnostic.attachNote(at->getLoc()) << "here: " << at->getName();
    return diagnostic;
  }

  LogicalResult verifySignature(ArrayRef<Type> ins, ArrayRef<Type> outs);
  LogicalResult verifyOp(Operation &op);
  LogicalResult verifyLoops(GenericOp generic);
  LogicalResult verifyReads(GenericOp generic);
  LogicalResult verifyReduction(GenericOp generic);
  LogicalResult verifyScalars(GenericOp generic);
};
} // namespace

LogicalResult BodyVerifier::verifySignature(ArrayRef<Type> ins, ArrayRef<Type> outs) {
  if (space.empty() || llvm::any_of(space, [](int64_t size) { return size < 1; }))
    return kernel->emitOpError() << "needs a space of at least one dim, of sizes of at least 1";
  if (TypeRange(ins) != TypeRange(body.getArgumentTypes()))
    return kernel->emitOpError() << "takes operands of types " << ins << " but its body takes "
                                 << body.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return kernel->emitOpError() << "must end in exec.yield";
  if (TypeRange(outs) != yield->getOperandTypes())
    return kernel->emitOpError() << "writes " << outs << " but its body yields " << yield->getOperandTypes();
  for (Value value : yield.getValues())
    if (!value.getDefiningOp<GenericOp>())
      return error(yield) << "yields a value that is not the result of a linalg.generic";
  return success();
}

LogicalResult BodyVerifier::verifyOp(Operation &op) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op) ||
      (isa<arith::ConstantOp>(op) && op.getResult(0).getType().isIntOrIndexOrFloat()))
    return success();
  auto generic = dyn_cast<GenericOp>(op);
  if (!generic)
    return error(&op) << "may hold linalg.generic, linalg.fill, tensor.empty and scalar constants only";
  if (failed(verifyLoops(generic)) || failed(verifyReads(generic)) || failed(verifyScalars(generic)))
    return failure();
  if (kindOf(generic, lanes) != GenericKind::Parallel)
    return verifyReduction(generic);
  if (!generic.getRegion().front().getArguments().back().use_empty())
    return error(generic) << "reads the init of an elementwise generic";
  return success();
}

LogicalResult BodyVerifier::verifyLoops(GenericOp generic) {
  ArrayRef<int64_t> dims = dimsOf(generic);
  if (generic.getNumResults() != 1 || !generic->hasAttr(ExecDialect::kDims) || dims.size() != generic.getNumLoops())
    return error(generic) << "needs generics of one result with " << ExecDialect::kDims << " for each loop";
  for (AffineMap map : generic.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return error(generic) << "has the indexing map " << AffineMapAttr::get(map)
                            << ", which is not a projected permutation";
  SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim > lanes || (index && dim <= dims[index - 1]))
      return error(generic) << "has " << ExecDialect::kDims << " [" << dims
                            << "], which are not increasing dims of space [" << space << "]";
    if (sizes[index] != space[dim])
      return error(generic) << "has a loop of size " << sizes[index] << " over dim " << dim << " of space [" << space
                            << "]";
  }
  return success();
}

LogicalResult BodyVerifier::verifyReads(GenericOp generic) {
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (isa<BlockArgument>(input->get()))
      continue;
    auto producer = input->get().getDefiningOp<GenericOp>();
    if (!producer)
      return error(generic) << "reads a value that is not the result of a linalg.generic";
    if (kindOf(producer, lanes) == GenericKind::RowReduction)
      return error(generic) << "reads a sum over rows, which is complete only when the kernel is";
    if (operandDims(producer, *producer.getDpsInitOperand(0)) != operandDims(generic, *input))
      return error(generic) << "reads a value at another row or lane than the loop that computes it";
  }
  for (Value init : generic.getOutputs())
    if (!init.getDefiningOp<tensor::EmptyOp>() && !init.getDefiningOp<linalg::FillOp>())
      return error(generic) << "needs inits from tensor.empty or linalg.fill";
  return success();
}

LogicalResult BodyVerifier::verifyReduction(GenericOp generic) {
  ArrayRef<int64_t> dims = dimsOf(generic);
  SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
  int64_t reduced = llvm::count(iterators, utils::IteratorType::reduction);
  if (kindOf(generic, lanes) == GenericKind::LaneReduction) {
    if (reduced != 1)
      return error(generic) << "reduces over lanes and rows at once";
  } else {
    int64_t leading = blockDims(generic);
    bool rest = llvm::all_of(ArrayRef(iterators).slice(leading, reduced),
                             [](auto iterator) { return iterator == utils::IteratorType::reduction; });
    if (static_cast<int64_t>(dims.size()) != lanes + 1 || !rest || leading + reduced != lanes)
      return error(generic) << "sums over rows, but its loops are not [blocks, reduced rows, lanes]";
    if (blocks >= 0 && blocks != leading)
      return error(generic) << "sums over rows with " << leading << " block dims, and elsewhere with " << blocks;
    blocks = leading;
  }
  Block &scalars = generic.getRegion().front();
  Value out = scalars.getArguments().back(), result = scalars.getTerminator()->getOperand(0);
  Operation *combine = result.getDefiningOp();
  if (!combine || !isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MaxSIOp>(combine) || !out.hasOneUse() ||
      *out.user_begin() != combine || !generic.getOutputs()[0].getDefiningOp<linalg::FillOp>())
    return error(generic) << "needs reductions of the form combine(x, out) from a linalg.fill";
  return success();
}

LogicalResult BodyVerifier::verifyScalars(GenericOp generic) {
  for (Operation &op : generic.getRegion().front()) {
    auto *dialect = op.getDialect();
    if (!isa<arith::ArithDialect, math::MathDialect>(dialect) &&
        !isa<linalg::IndexOp, linalg::YieldOp, RandomUniformOp, tensor::ExtractOp>(op))
      return error(&op) << "is not allowed to contain " << op.getName();
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    std::optional<TableRead> read = extract ? tableReadOf(extract) : std::nullopt;
    if (extract && (!read || dimsOf(generic)[read->loop] != lanes))
      return error(&op) << "may read a table only if it is an operand of the generic, at a row number cast to an index "
                           "and at the lane";
    for (Value operand : op.getOperands())
      if (operand.getParentRegion() != &generic.getRegion() && !isa<RandomUniformOp>(op) && !extract &&
          !operand.getDefiningOp<arith::ConstantOp>())
        return error(&op) << "reads a tensor that is not an operand of its generic";
  }
  return success();
}

LogicalResult exec::verifyKernelBody(Operation *kernel, Block &body, ArrayRef<int64_t> space, ArrayRef<Type> ins,
                                     ArrayRef<Type> outs) {
  BodyVerifier verifier{kernel, body, space, static_cast<int64_t>(space.size()) - 1};
  if (failed(verifier.verifySignature(ins, outs)))
    return failure();
  for (Operation &op : body.without_terminator())
    if (failed(verifier.verifyOp(op)))
      return failure();
  return success();
}
