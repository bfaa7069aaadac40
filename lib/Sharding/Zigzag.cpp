//===- Zigzag.cpp - positions of zigzag blocks ----------------------------===//

#include "lib/Sharding/Zigzag.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Divisors.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/AxisLists.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

FailureOr<std::optional<Zigzag>> Zigzag::of(Operation *op, const Mesh &mesh) {
  auto module = op->getParentOfType<ModuleOp>();
  auto axes = module ? module->getAttrOfType<AxesAttr>(kZigzag) : AxesAttr();
  if (!axes)
    return std::optional<Zigzag>();
  auto emitError = [&] { return op->emitError() << "'" << kZigzag << "' of the module: "; };
  if (failed(verifyAxes(emitError, mesh, axes)))
    return failure();
  StringAttr axis = axes.getNames().front();
  return std::optional<Zigzag>(Zigzag{axis, mesh.sizeOf(axis)});
}

static size_t placeOf(AxesAttr axes, StringAttr axis) {
  return llvm::find(axes.getNames(), axis) - axes.getNames().begin();
}

AxesAttr Zigzag::before(AxesAttr axes) const { return sliceAxes(axes, 0, placeOf(axes, axis)); }
AxesAttr Zigzag::behind(AxesAttr axes) const { return sliceAxes(axes, placeOf(axes, axis) + 1); }

std::string Zigzag::problemOf(int64_t size, AxesAttr axes, const Mesh &mesh) const {
  int64_t blocks = 2 * ranks * mesh.sizeOf(before(axes)), shares = mesh.sizeOf(behind(axes));
  if (size % blocks)
    return std::to_string(size) + " positions over " + axes.str() + " are " + std::to_string(blocks) +
           " blocks in zigzag, which do not divide them: " + nearestThatDivide(size, blocks) +
           " (the sequence, --seq of braid-model)";
  if (shares > 1 && shares % 2)
    return "two blocks of a zigzag over '" + axis.str() + "' do not divide into " + std::to_string(shares) +
           " parts over " + behind(axes).str();
  return "";
}

SmallVector<int64_t> Zigzag::heldOrder(AxesAttr axes, const Mesh &mesh) const {
  SmallVector<int64_t> order;
  for (int64_t first = 0, parts = mesh.sizeOf(before(axes)); first < 2 * ranks * parts; first += 2 * ranks)
    for (int64_t rank = 0; rank < ranks; ++rank)
      order.append({first + rank, first + 2 * ranks - 1 - rank});
  return order;
}

SmallVector<int64_t> Zigzag::placesInHeldOrder(AxesAttr axes, const Mesh &mesh) const {
  SmallVector<int64_t> order = heldOrder(axes, mesh), places(order.size());
  for (auto [place, block] : llvm::enumerate(order))
    places[block] = place;
  return places;
}

//===----------------------------------------------------------------------===//
// Blocks in another order
//===----------------------------------------------------------------------===//

Value braid::reorderBlocks(OpBuilder &builder, Location loc, Value value, int64_t dim, ArrayRef<int64_t> order) {
  tg::TensorBuilder t(builder, loc);
  int64_t size = tg::typeOf(value).getDimSize(dim) / static_cast<int64_t>(order.size());
  SmallVector<Value> blocks =
      llvm::map_to_vector(order, [&](int64_t block) { return t.slice(value, dim, block * size, size); });
  return t.make<tg::ConcatOp>(blocks, dim);
}

Value braid::reorderedBlocks(Value result, int64_t dim, ArrayRef<int64_t> order) {
  auto concat = result.getDefiningOp<tg::ConcatOp>();
  if (!concat || concat.getDim() != static_cast<uint64_t>(dim) || concat.getInputs().size() != order.size())
    return {};
  Value source;
  for (auto [block, input] : llvm::zip_equal(order, concat.getInputs())) {
    auto slice = input.getDefiningOp<tg::SliceOp>();
    if (!slice || slice.getDim() != static_cast<uint64_t>(dim) || slice.getStride() != 1 ||
        (source && slice.getInput() != source))
      return {};
    source = slice.getInput();
    int64_t size = tg::typeOf(source).getDimSize(dim) / static_cast<int64_t>(order.size());
    if (static_cast<int64_t>(slice.getSize()) != size || static_cast<int64_t>(slice.getOffset()) != block * size)
      return {};
  }
  return source;
}
