//===- MemoryOrder.cpp - dependences from shared memory -------------------===//

#include "lib/Actions/MemoryOrder.h"

using namespace mlir;
using namespace braid;

namespace {
/// Bytes of a storage, from the first to the last that an action touches.
struct Access {
  unsigned action;
  int64_t begin, end;

  bool meets(const Access &other) const { return begin < other.end && other.begin < end; }
  bool covers(const Access &other) const { return begin <= other.begin && other.end <= end; }
};
} // namespace

static Access accessOf(unsigned action, RankedTensorType type, const Layout &layout) {
  int64_t last = layout.offset;
  for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides))
    last += (size - 1) * stride;
  int64_t bytes = elementBytes(type.getElementType());
  return {action, layout.offset * bytes, (last + 1) * bytes};
}

std::vector<SmallVector<unsigned, 4>> braid::memoryOrder(const Places &places) {
  std::vector<SmallVector<unsigned, 4>> before(places.actions.size());
  // For each storage, the accesses that were not overwritten completely.
  std::vector<SmallVector<Access, 4>> accesses(places.storages.size());
  auto find = [&](unsigned action, Value value) {
    const Place &place = places.places.at(value);
    Access access = accessOf(action, cast<RankedTensorType>(value.getType()), place.layout);
    return std::pair(access, &accesses[place.storage]);
  };
  for (auto [index, action] : llvm::enumerate(places.actions)) {
    unsigned number = index;
    for (Value operand : exec::ActionOpInterface(action).getActionIns()) {
      auto [read, earlier] = find(number, operand);
      earlier->push_back(read);
    }
    for (Value result : exec::ActionOpInterface(action).getActionResults()) {
      auto [write, earlier] = find(number, result);
      for (const Access &other : *earlier)
        if (other.action != number && other.meets(write) && !llvm::is_contained(before[number], other.action))
          before[number].push_back(other.action);
      llvm::erase_if(*earlier, [&, write = write](const Access &other) { return write.covers(other); });
      earlier->push_back(write);
    }
  }
  return before;
}
