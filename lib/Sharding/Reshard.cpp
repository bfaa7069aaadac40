//===- Reshard.cpp - from one sharding to another -------------------------===//

#include "lib/Sharding/Reshard.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

using Kind = ReshardStep::Kind;
using AxisList = SmallVector<StringAttr>;

namespace {
/// Steps from one sharding to another; `dims`, `partial` and `flat` are the sharding reached so far.
class Route {
public:
  Route(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh);

  SmallVector<ReshardStep> find();

private:
  bool slice();
  bool sliceDim(unsigned dim);
  bool sliceFlat();
  bool reduce();
  bool gather(bool moving);
  void gatherFlat(size_t kept);

  size_t keptFlat() const;
  bool isFree(StringAttr axis) const;
  bool moves(StringAttr axis) const { return target(axis) != kNowhere; }
  /// Returns the dim that the target shards along an axis, kFlat, or kNowhere.
  int64_t target(StringAttr axis) const;
  void add(Kind kind, int64_t dim, ArrayRef<StringAttr> axes);

  static constexpr int64_t kNowhere = -2;

  RankedTensorType type;
  ShardingAttr to;
  const Mesh &mesh;
  Reduction reduction;
  SmallVector<AxisList> dims;
  AxisList partial, flat;
  SmallVector<ReshardStep> steps;
};
} // namespace

Route::Route(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh)
    : type(type), to(to), mesh(mesh), reduction(from.getReduction()), partial(from.getPartial().getNames()),
      flat(from.getFlat().getNames()) {
  for (AxesAttr axes : from.getDims())
    dims.emplace_back(axes.getNames());
}

static size_t commonPrefix(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) {
  size_t length = 0;
  while (length < std::min(a.size(), b.size()) && a[length] == b[length])
    ++length;
  return length;
}

int64_t Route::target(StringAttr axis) const {
  for (auto [dim, axes] : llvm::enumerate(to.getDims()))
    if (axes.contains(axis))
      return dim;
  return to.getFlat().contains(axis) ? kFlat : kNowhere;
}

bool Route::isFree(StringAttr axis) const {
  return !llvm::is_contained(partial, axis) && !llvm::is_contained(flat, axis) &&
         llvm::none_of(dims, [&](const AxisList &axes) { return llvm::is_contained(axes, axis); });
}

/// Appends a step; `dims` and `flat` describe the tensor after it.
void Route::add(Kind kind, int64_t dim, ArrayRef<StringAttr> axes) {
  MLIRContext *context = type.getContext();
  SmallVector<AxesAttr> lists;
  for (const AxisList &names : dims)
    lists.push_back(AxesAttr::get(context, names));
  ShardingAttr now = ShardingAttr::replicated(to.getMesh(), dims.size()).withDims(lists);
  now = now.withFlat(AxesAttr::get(context, flat));
  steps.push_back({kind, dim, AxesAttr::get(context, axes), reduction, localType(type, now, mesh)});
}

/// Returns the number of axes of a flat sharding that can stay: the common prefix of
/// both lists, if the ranges of the longer lists are nested exactly in those of the
/// prefix. (Padding can shift them: 5 elements in 2 ranges of 3 are not 4 ranges of 2.)
size_t Route::keptFlat() const {
  for (auto [axes, wanted] : llvm::zip_equal(dims, to.getDims()))
    if (ArrayRef<StringAttr>(axes) != wanted.getNames())
      return 0;
  ArrayRef<StringAttr> wanted = to.getFlat().getNames();
  size_t kept = commonPrefix(flat, wanted);
  MLIRContext *context = type.getContext();
  int64_t elements = localDimsType(type, to, mesh).getNumElements();
  auto ranks = [&](ArrayRef<StringAttr> axes) { return mesh.sizeOf(AxesAttr::get(context, axes)); };
  auto nests = [&](ArrayRef<StringAttr> axes) {
    int64_t range = flatRange(elements, ranks(axes.take_front(kept)));
    return range == ranks(axes.drop_front(kept)) * flatRange(elements, ranks(axes));
  };
  return nests(flat) && nests(wanted) ? kept : 0;
}

/// Gathers a flat range to its first `kept` axes. A range that keeps some axes is gathered like a dim.
void Route::gatherFlat(size_t kept) {
  if (flat.size() == kept)
    return;
  AxisList gone(ArrayRef<StringAttr>(flat).drop_front(kept));
  flat.truncate(kept);
  add(Kind::AllGather, kept ? 0 : kFlat, gone);
}

/// Shards a dim along the next axes of its target, as far as these are free.
bool Route::sliceDim(unsigned dim) {
  ArrayRef<StringAttr> wanted = to.getDims()[dim].getNames();
  if (!flat.empty() || commonPrefix(dims[dim], wanted) < dims[dim].size())
    return false;
  auto ready = wanted.drop_front(dims[dim].size()).take_while([&](StringAttr axis) { return isFree(axis); });
  if (ready.empty())
    return false;
  llvm::append_range(dims[dim], ready);
  add(Kind::Slice, dim, ready);
  return true;
}

/// Takes a flat range in one step, after the dims have their target axes, because its padding depends on all axes.
bool Route::sliceFlat() {
  ArrayRef<StringAttr> wanted = to.getFlat().getNames();
  for (auto [axes, list] : llvm::zip_equal(dims, to.getDims()))
    if (ArrayRef<StringAttr>(axes) != list.getNames())
      return false;
  AxisList missing(wanted.drop_front(std::min(flat.size(), wanted.size())));
  if (missing.empty() || !llvm::all_of(missing, [&](StringAttr axis) { return isFree(axis); }))
    return false;
  bool wasFlat = !flat.empty();
  llvm::append_range(flat, missing);
  add(Kind::Slice, wasFlat ? 0 : kFlat, missing);
  return true;
}

bool Route::slice() {
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (sliceDim(dim))
      return true;
  return sliceFlat();
}

/// Combines partial values along the axes that move to one place; if none move, along all axes that disappear.
bool Route::reduce() {
  auto goes = [&](StringAttr axis) { return !to.getPartial().contains(axis); };
  auto *first = llvm::find_if(partial, [&](StringAttr axis) { return goes(axis) && moves(axis); });
  if (first == partial.end())
    first = llvm::find_if(partial, goes);
  if (first == partial.end())
    return false;
  AxisList gone, left;
  for (StringAttr axis : partial)
    (goes(axis) && target(axis) == target(*first) ? gone : left).push_back(axis);
  partial = left;
  add(Kind::AllReduce, 0, gone);
  return true;
}

/// Gathers one dim along minor axes that its target lacks, as many as move to the same
/// place. With `moving`, only axes that the tensor has elsewhere in the end.
bool Route::gather(bool moving) {
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    size_t kept = commonPrefix(axes, to.getDims()[dim].getNames());
    if (kept == axes.size() || (moving && !moves(axes.back())))
      continue;
    size_t first = axes.size() - 1;
    while (first > kept && target(axes[first - 1]) == target(axes.back()))
      --first;
    AxisList gone(ArrayRef<StringAttr>(axes).drop_front(first));
    axes.truncate(first);
    add(Kind::AllGather, dim, gone);
    return true;
  }
  return false;
}

SmallVector<ReshardStep> Route::find() {
  size_t kept = keptFlat();
  if (flat.size() > kept) {
    while (reduce()) {
    }
    gatherFlat(kept);
  }
  while (slice() || reduce() || gather(/*moving=*/true) || gather(/*moving=*/false)) {
  }
  return std::move(steps);
}

FailureOr<SmallVector<ReshardStep>> braid::reshardSteps(function_ref<InFlightDiagnostic()> emitError,
                                                        RankedTensorType type, ShardingAttr from, ShardingAttr to,
                                                        const Mesh &mesh) {
  for (StringAttr axis : to.getPartial().getNames())
    if (!from.getPartial().contains(axis))
      return emitError() << "values that are not partial along '" << axis.getValue() << "' in " << from
                         << " cannot become partial in " << to
                         << "; only an op with a sharded reduction makes partial values";
  if (to.isPartial() && from.getReduction() != to.getReduction())
    return emitError() << "values that are partial by " << stringifyReduction(from.getReduction())
                       << " cannot become partial by " << stringifyReduction(to.getReduction())
                       << "; reduce them to values that are not partial first";
  return Route(type, from, to, mesh).find();
}
