//===- FuseGathers.cpp - look up table rows in their readers --------------===//
//
// A kernel that reads the rows of a gather at its own rows and lanes reads them by number from the table, instead of
// from a copy.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Views.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/ValueNames.h"
#include "lib/Actions/ActionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Base/Signature.h"
#include "passes/Kernels/KernelNames.h"
#include "passes/Kernels/KernelSpace.h"
#define GEN_PASS_DEF_FUSEGATHERSPASS
#include "passes/Kernels/Passes.h"

using namespace mlir;
using namespace braid;

namespace {
/// A gather, and the kernel that is the first action to read its rows.
struct Lookup {
  exec::GatherOp gather;
  exec::KernelOp kernel;
  unsigned operand;
  /// The dims of the kernel's space that index the rows.
  SmallVector<int64_t> dims;
};
} // namespace

/// Whether an operand is a gather's result, whole and in order.
static bool readsRowsOf(Value operand, exec::GatherOp gather) {
  if (auto view = operand.getDefiningOp<exec::ViewOp>(); view && exec::isReshape(view))
    operand = view.getSource();
  return operand == gather.getResult();
}

/// Returns the kernel that can look up a gather's rows: the first reader, if it reads them once and at all its lanes.
static std::optional<Lookup> findLookup(exec::GatherOp gather, const ActionOrder &order) {
  llvm::SmallSetVector<Operation *, 8> readers;
  order.addReaders(gather.getResult(), readers);
  if (readers.empty())
    return std::nullopt;
  auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  auto kernel = dyn_cast<exec::KernelOp>(*llvm::min_element(readers, isBefore));
  if (!kernel)
    return std::nullopt;
  std::optional<unsigned> operand;
  for (auto [index, value] : llvm::enumerate(kernel.getIns())) {
    if (order.producerOf(value) != gather)
      continue;
    if (operand || !readsRowsOf(value, gather))
      return std::nullopt;
    operand = index;
  }
  std::optional<SmallVector<int64_t>> dims = operandDimsOf(kernel, *operand);
  int64_t lanes = kernel.getSpace().size() - 1, width = gather.getResult().getType().getShape().back();
  // A kernel without rows reads a single row, whose copy costs little.
  if (!dims || dims->size() < 2 || dims->back() != lanes || kernel.getSpace().back() != width ||
      !llvm::is_sorted(*dims))
    return std::nullopt;
  return Lookup{gather, kernel, *operand, *dims};
}

/// Moves the readers that stand before `producer` behind it.
static void moveReadersBehind(Operation *producer) {
  for (Operation *user : llvm::to_vector(producer->getUsers()))
    if (user->isBeforeInBlock(producer)) {
      user->moveAfter(producer);
      moveReadersBehind(user);
    }
}

static Value reshape(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return builder.createOrFold<exec::ViewOp>(value.getLoc(), type.clone(shape), value, 0, exec::rowMajor(shape));
}

/// Builds a generic that reads rows by number from the table. A number beyond the table reads its last row, so that no
/// other memory is read.
static Value lookUpRow(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<int64_t> dims, Value table,
                       Value numbers) {
  unsigned rank = dims.size();
  AffineMap all = builder.getMultiDimIdentityMap(rank);
  Value init = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(
      loc, type, numbers, init, ArrayRef<AffineMap>{all.getMajorSubMap(rank - 1), all}, iterators,
      [&](OpBuilder &body, Location, ValueRange scalars) {
        int64_t last = cast<RankedTensorType>(table.getType()).getDimSize(0) - 1;
        Value first = body.create<arith::ConstantOp>(loc, body.getI32IntegerAttr(0));
        Value end = body.create<arith::ConstantOp>(loc, body.getI32IntegerAttr(last));
        Value number = body.create<arith::MaxSIOp>(loc, scalars[0], first);
        number = body.create<arith::MinSIOp>(loc, number, end);
        Value row = body.create<arith::IndexCastOp>(loc, body.getIndexType(), number);
        Value lane = body.create<linalg::IndexOp>(loc, rank - 1);
        Value element = body.create<tensor::ExtractOp>(loc, table, ValueRange{row, lane});
        body.create<linalg::YieldOp>(loc, element);
      });
  generic->setAttr(exec::ExecDialect::kDims, builder.getDenseI64ArrayAttr(dims));
  return generic.getResult(0);
}

/// Adds the table and the row numbers to the kernel as operands. If other ops read the rows too, they become its last
/// result.
static void fuse(const Lookup &lookup) {
  exec::KernelOp kernel = lookup.kernel;
  exec::GatherOp gather = lookup.gather;
  Block &body = *kernel.getBlock();
  OpBuilder builder(kernel);
  BlockArgument rows = body.getArgument(lookup.operand);
  auto type = cast<RankedTensorType>(rows.getType());
  Value numbers = reshape(builder, gather.getIndices(), type.getShape().drop_back());

  SmallVector<Value> operands(kernel.getIns());
  operands.append({gather.getTable(), numbers});
  Value table = body.addArgument(gather.getTable().getType(), tg::withValueName(gather.getLoc(), "table"));
  Value number =
      body.addArgument(numbers.getType(), tg::withValueName(numbers.getLoc(), tg::nameOfOperand(gather.getIndices())));
  builder.setInsertionPointToStart(&body);
  Value found = lookUpRow(builder, gather.getLoc(), type, lookup.dims, table, number);
  rows.replaceAllUsesWith(found);
  body.eraseArgument(lookup.operand);
  operands.erase(operands.begin() + lookup.operand);

  bool isKept = isReadElsewhere(gather.getResult(), kernel);
  SmallVector<Value> replaced(kernel.getResults());
  if (isKept) {
    Operation *yield = body.getTerminator();
    yield->insertOperands(yield->getNumOperands(), found);
    replaced.push_back(gather.getResult());
  }
  builder.setInsertionPoint(kernel);
  auto fused = builder.create<exec::KernelOp>(tg::fusedLocation({gather, kernel}, replaced),
                                              body.getTerminator()->getOperandTypes(),
                                              fusedName(kernelNameOf(gather), kernel.getName(), kernel.getContext()),
                                              operands, ValueRange(), kernel.getSpace());
  fused.getBody().takeBody(kernel.getBody());
  kernel->replaceAllUsesWith(fused->getResults().take_front(kernel->getNumResults()));
  kernel.erase();
  if (!isKept)
    return;
  builder.setInsertionPointAfter(fused);
  Value kept = reshape(builder, fused->getResults().back(), gather.getResult().getType().getShape());
  gather.getResult().replaceAllUsesWith(kept);
  moveReadersBehind(kept.getDefiningOp());
}

namespace {
struct FuseGathers final : braid::impl::FuseGathersPassBase<FuseGathers> {
  void runOnOperation() final {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    ActionOrder order(block);
    for (auto gather : llvm::to_vector(block.getOps<exec::GatherOp>()))
      if (std::optional<Lookup> lookup = findLookup(gather, order))
        fuse(*lookup);
    eraseDeadOps(block);
  }
};
} // namespace
