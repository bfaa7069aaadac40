//===- Zigzag.cpp - positions of zigzag blocks ----------------------------===//

#include "lib/Sharding/Zigzag.h"
#include "dialects/Comm/Zigzag.h"
#include "dialects/Interfaces/Divisors.h"
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
    return std::to_string(size) + " positions do not divide into " + std::to_string(blocks) + " zigzag blocks over " +
           axes.str() + ": " + nearestDivisibleSizes(size, blocks) + " (the sequence, --seq of braid-model)";
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
