//===- KernelSpace.cpp - common iteration space of two kernels ------------===//

#include "passes/Kernels/KernelSpace.h"
#include "dialects/Exec/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace braid;
using exec::GenericKind;
using linalg::GenericOp;
using Dims = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static bool reduces(exec::KernelOp kernel) {
  int64_t lanes = kernel.getSpace().size() - 1;
  return llvm::any_of(kernel.getBlock()->getOps<GenericOp>(),
                      [&](GenericOp generic) { return exec::kindOf(generic, lanes) != GenericKind::Parallel; });
}

int64_t braid::blockDimsOf(exec::KernelOp kernel) {
  int64_t lanes = kernel.getSpace().size() - 1;
  for (auto generic : kernel.getBlock()->getOps<GenericOp>())
    if (exec::kindOf(generic, lanes) == GenericKind::RowReduction)
      return exec::blockDims(generic);
  return -1;
}

std::optional<Dims> braid::operandDimsOf(exec::KernelOp kernel, unsigned operand) {
  std::optional<Dims> dims;
  for (OpOperand &use : kernel.getBlock()->getArgument(operand).getUses()) {
    auto generic = dyn_cast<GenericOp>(use.getOwner());
    if (!generic)
      return std::nullopt;
    Dims found = exec::operandDims(generic, use);
    if (dims && *dims != found)
      return std::nullopt;
    dims = found;
  }
  return dims;
}

std::optional<Dims> braid::resultDimsOf(exec::KernelOp kernel, unsigned result) {
  auto generic = kernel.getBlock()->getTerminator()->getOperand(result).getDefiningOp<GenericOp>();
  if (exec::kindOf(generic, kernel.getSpace().size() - 1) == GenericKind::RowReduction)
    return std::nullopt;
  return exec::operandDims(generic, *generic.getDpsInitOperand(0));
}

bool braid::isReadElsewhere(Value value, Operation *reader) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<exec::ViewOp>(user) ? isReadElsewhere(user->getResult(0), reader) : user != reader;
  });
}

bool braid::isSplittable(exec::KernelOp kernel) {
  for (BlockArgument argument : kernel.getBlock()->getArguments()) {
    // The key of random numbers is read whole.
    bool isKey = llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<exec::RandomUniformOp>(user); });
    if (!isKey && !operandDimsOf(kernel, argument.getArgNumber()))
      return false;
  }
  return true;
}

Dims braid::splitDims(ArrayRef<int64_t> dims, const DimSplits &splits) {
  Dims result;
  for (int64_t dim : dims)
    result.append(splits[dim].begin(), splits[dim].end());
  return result;
}

//===----------------------------------------------------------------------===//
// The common refinement
//===----------------------------------------------------------------------===//

/// Appends the refinement of two lists of sizes with equal products.
static bool refine(ArrayRef<int64_t> first, ArrayRef<int64_t> second, CommonSpace &common) {
  size_t i = 0, j = 0;
  int64_t a = 1, b = 1;
  common.first.resize(first.size());
  common.second.resize(second.size());
  while (true) {
    while (a == 1 && i < first.size())
      a = first[i++];
    while (b == 1 && j < second.size())
      b = second[j++];
    if (a == 1 || b == 1)
      return a == b;
    if (a % b && b % a)
      return false;
    int64_t size = std::min(a, b);
    common.first[i - 1].push_back(common.space.size());
    common.second[j - 1].push_back(common.space.size());
    common.space.push_back(size);
    a /= size;
    b /= size;
  }
}

static DimSplits identity(size_t rank) {
  DimSplits splits(rank);
  for (size_t dim = 0; dim < rank; ++dim)
    splits[dim].push_back(dim);
  return splits;
}

/// Whether a kernel's lanes stay whole and last, or may be split.
static bool keepsLanes(exec::KernelOp kernel, const DimSplits &splits, ArrayRef<int64_t> space) {
  int64_t lanes = space.size() - 1;
  return !reduces(kernel) || (splits.back().size() == 1 && splits.back()[0] == lanes);
}

std::optional<CommonSpace> braid::commonSpace(exec::KernelOp first, exec::KernelOp second) {
  ArrayRef<int64_t> a = first.getSpace(), b = second.getSpace();
  if (a == b)
    return CommonSpace{Dims(a), identity(a.size()), identity(b.size())};
  CommonSpace common;
  if (product(a) == product(b)) {
    if (!refine(a, b, common) || common.space.empty())
      return std::nullopt;
  } else if (product(a) == product(b.drop_back()) && !reduces(first)) {
    if (!refine(a, b.drop_back(), common))
      return std::nullopt;
    common.second.push_back({static_cast<int64_t>(common.space.size())});
    common.space.push_back(b.back());
  } else if (product(b) == product(a.drop_back()) && !reduces(second)) {
    if (!refine(a.drop_back(), b, common))
      return std::nullopt;
    common.first.push_back({static_cast<int64_t>(common.space.size())});
    common.space.push_back(a.back());
  } else {
    return std::nullopt;
  }
  if (!keepsLanes(first, common.first, common.space) || !keepsLanes(second, common.second, common.space))
    return std::nullopt;
  return common;
}

//===----------------------------------------------------------------------===//
// Splitting loops
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds one kernel in a refined space.
class LoopSplitter {
public:
  LoopSplitter(exec::KernelOp kernel, ArrayRef<int64_t> space, const DimSplits &splits)
      : old(kernel), space(space), splits(splits), builder(kernel) {}
  exec::KernelOp run();

private:
  Type splitType(Type type, ArrayRef<int64_t> dims);
  void splitOperands();
  void splitGeneric(GenericOp generic);
  Value splitInit(Value init, Type type);
  AffineMap splitMap(AffineMap map, ArrayRef<int64_t> dims, ArrayRef<int64_t> newDims);
  void splitIndices(GenericOp generic, ArrayRef<int64_t> dims, ArrayRef<int64_t> newDims);
  exec::KernelOp finish();

  exec::KernelOp old;
  ArrayRef<int64_t> space;
  const DimSplits &splits;
  OpBuilder builder;
  Region region;
  IRMapping values;
  SmallVector<Value> operands;
};
} // namespace

Type LoopSplitter::splitType(Type type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape = llvm::map_to_vector(splitDims(dims, splits), [&](int64_t dim) { return space[dim]; });
  return RankedTensorType::get(shape, cast<RankedTensorType>(type).getElementType());
}

static Value reshape(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return builder.createOrFold<exec::ViewOp>(value.getLoc(), type, value, 0,
                                            exec::rowMajor(cast<RankedTensorType>(type).getShape()));
}

void LoopSplitter::splitOperands() {
  for (auto [value, argument] : llvm::zip(old.getIns(), old.getBlock()->getArguments())) {
    std::optional<Dims> dims = operandDimsOf(old, argument.getArgNumber());
    Type type = dims ? splitType(value.getType(), *dims) : value.getType();
    operands.push_back(reshape(builder, value, type));
    values.map(argument, region.front().addArgument(type, argument.getLoc()));
  }
}

Value LoopSplitter::splitInit(Value init, Type type) {
  auto shaped = cast<RankedTensorType>(type);
  Value empty = builder.create<tensor::EmptyOp>(init.getLoc(), shaped.getShape(), shaped.getElementType());
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return empty;
  Value scalar = builder.clone(*fill.getInputs()[0].getDefiningOp())->getResult(0);
  return builder.create<linalg::FillOp>(init.getLoc(), scalar, empty).getResult(0);
}

AffineMap LoopSplitter::splitMap(AffineMap map, ArrayRef<int64_t> dims, ArrayRef<int64_t> newDims) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    for (int64_t dim : splits[dims[cast<AffineDimExpr>(expr).getPosition()]])
      results.push_back(builder.getAffineDimExpr(llvm::find(newDims, dim) - newDims.begin()));
  return AffineMap::get(newDims.size(), 0, results, builder.getContext());
}

void LoopSplitter::splitGeneric(GenericOp generic) {
  ArrayRef<int64_t> dims = exec::dimsOf(generic);
  Dims newDims = splitDims(dims, splits);
  SmallVector<AffineMap> maps;
  for (AffineMap map : generic.getIndexingMapsArray())
    maps.push_back(splitMap(map, dims, newDims));
  SmallVector<utils::IteratorType> iterators;
  for (auto [dim, iterator] : llvm::zip(dims, generic.getIteratorTypesArray()))
    iterators.append(splits[dim].size(), iterator);
  SmallVector<Value> inputs = llvm::map_to_vector(generic.getInputs(), [&](Value v) { return values.lookup(v); });
  OpOperand *initOperand = generic.getDpsInitOperand(0);
  Value init =
      splitInit(initOperand->get(), splitType(initOperand->get().getType(), exec::operandDims(generic, *initOperand)));
  auto split = builder.create<GenericOp>(generic.getLoc(), init.getType(), inputs, init, maps, iterators);
  generic.getRegion().cloneInto(&split.getRegion(), values);
  split->setAttr(exec::ExecDialect::kDims, builder.getDenseI64ArrayAttr(newDims));
  splitIndices(split, dims, newDims);
  values.map(generic.getResult(0), split.getResult(0));
}

/// Builds i = i0 * size1 + i1, in the type that the index is cast to.
static void splitIndexCast(arith::IndexCastOp op, ArrayRef<Value> parts, ArrayRef<int64_t> strides) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type type = op.getType();
  Value sum;
  for (auto [part, stride] : llvm::zip(parts, strides)) {
    Value term = builder.create<arith::IndexCastOp>(loc, type, part);
    if (stride != 1) {
      Value factor = builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, stride));
      term = builder.create<arith::MulIOp>(loc, term, factor);
    }
    sum = sum ? builder.create<arith::AddIOp>(loc, sum, term).getResult() : term;
  }
  if (!sum)
    sum = builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, 0));
  op.replaceAllUsesWith(sum);
  op.erase();
}

/// Replaces an index by its parts, each with its share of the stride.
static void splitRandomIndex(exec::RandomUniformOp op, Value index, ArrayRef<Value> parts, ArrayRef<int64_t> strides) {
  SmallVector<Value> indices;
  SmallVector<int64_t> newStrides;
  for (auto [old, stride] : llvm::zip(op.getIndices(), op.getStrides())) {
    if (old != index) {
      indices.push_back(old);
      newStrides.push_back(stride);
      continue;
    }
    for (auto [part, inner] : llvm::zip(parts, strides)) {
      indices.push_back(part);
      newStrides.push_back(stride * inner);
    }
  }
  op.getIndicesMutable().assign(indices);
  op.setStrides(newStrides);
}

/// Rewrites the indices in a cloned body.
void LoopSplitter::splitIndices(GenericOp generic, ArrayRef<int64_t> dims, ArrayRef<int64_t> newDims) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<linalg::IndexOp> indices(generic.getRegion().front().getOps<linalg::IndexOp>());
  for (linalg::IndexOp index : indices) {
    SmallVector<Value> parts;
    SmallVector<int64_t> sizes;
    builder.setInsertionPoint(index);
    for (int64_t dim : splits[dims[index.getDim()]]) {
      parts.push_back(builder.create<linalg::IndexOp>(index.getLoc(), llvm::find(newDims, dim) - newDims.begin()));
      sizes.push_back(space[dim]);
    }
    SmallVector<int64_t> strides = exec::rowMajor(sizes);
    for (Operation *user : llvm::make_early_inc_range(index->getUsers())) {
      if (auto cast = dyn_cast<arith::IndexCastOp>(user))
        splitIndexCast(cast, parts, strides);
      else
        splitRandomIndex(llvm::cast<exec::RandomUniformOp>(user), index, parts, strides);
    }
    index.erase();
  }
}

exec::KernelOp LoopSplitter::finish() {
  Operation *yield = old.getBlock()->getTerminator();
  SmallVector<Value> results = llvm::map_to_vector(yield->getOperands(), [&](Value v) { return values.lookup(v); });
  builder.create<exec::YieldOp>(yield->getLoc(), results);
  builder.setInsertionPoint(old);
  auto kernel = builder.create<exec::KernelOp>(old.getLoc(), ValueRange(results).getTypes(), old.getName(), operands,
                                               ValueRange(), space);
  kernel.getBody().takeBody(region);
  for (auto [before, after] : llvm::zip(old.getResults(), kernel.getResults())) {
    // Views read their source in row-major order, which splitting preserves.
    for (OpOperand &use : llvm::make_early_inc_range(before.getUses()))
      if (isa<exec::ViewOp>(use.getOwner()))
        use.set(after);
    if (!before.use_empty())
      before.replaceAllUsesWith(reshape(builder, after, before.getType()));
  }
  return kernel;
}

exec::KernelOp LoopSplitter::run() {
  region.emplaceBlock();
  splitOperands();
  builder.setInsertionPointToEnd(&region.front());
  for (auto generic : old.getBlock()->getOps<GenericOp>())
    splitGeneric(generic);
  return finish();
}

exec::KernelOp braid::moveToSpace(exec::KernelOp kernel, ArrayRef<int64_t> space, const DimSplits &splits) {
  if (kernel.getSpace() == space)
    return kernel;
  // Rows of a larger space: the loop numbers stay the same.
  DimSplits same = identity(splits.size());
  if (splits == same && space.take_front(splits.size()) == kernel.getSpace()) {
    kernel.setSpace(space);
    return kernel;
  }
  return LoopSplitter(kernel, space, splits).run();
}
