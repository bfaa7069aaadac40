//===- PlaceNames.cpp - constants that name bytes of the arena ----------------===//

#include "compiler/Codegen/PlaceNames.h"
#include "compiler/Codegen/StepPrinter.h"
#include "lib/Memory/Persistent.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

PlaceNames::PlaceNames(ModuleOp module, const ArenaMap &arena) : arena(arena) {
  for (auto program : module.getOps<exec::ProgramOp>()) // programs have namespaces there
    tensorNames.insert(programFunction(program.getSymName()));
  std::vector<Place> places;
  for (auto tensor : module.getOps<exec::TensorOp>()) {
    tensorOf[tensor] = places.size();
    places.push_back({nameOf(tensor).str(), tensor.getBegin(), tensor.getSize(),
                      exec::stringifyCategory(tensor.getCategory()), std::nullopt, std::nullopt, tensor.getHost()});
  }
  tensors = PlaceTable(std::move(places), tensorNames);
  hasGaps = tensors.hasGaps();
}

/// Returns the place of a content, without the place that it takes over. A buffer lives from before its first write, if
/// a collective writes it, until after its last read.
static Place placeOfContent(const Content &content) {
  exec::BufferOp buffer = content.buffer;
  Place place{content.name, content.offset(), content.bytes, exec::stringifyCategory(buffer.getCategory()), {},
              {},           buffer.getHost()};
  place.first = content.isFirst ? static_cast<int64_t>(buffer.getFirst()) : content.action;
  if (content.isFirst)
    place.last = static_cast<int64_t>(buffer.getLast());
  return place;
}

void PlaceNames::enter(const BufferNames &names) {
  contents = &names;
  ArrayRef<Content> all = names.all();
  std::vector<unsigned> order;
  for (auto [index, content] : llvm::enumerate(all))
    if (content.isFirst || content.isAddressed)
      order.push_back(index);
  auto key = [&](unsigned index) {
    Place place = placeOfContent(all[index]);
    return std::tuple(*place.first, !all[index].isFirst, place.offset);
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return key(a) < key(b); });
  placeOf.assign(all.size(), -1);
  std::vector<Place> places;
  for (unsigned index : order) {
    placeOf[index] = places.size();
    places.push_back(placeOfContent(all[index]));
    int before = all[index].overwritten;
    while (before >= 0 && placeOf[before] < 0)
      before = all[before].overwritten;
    places.back().takenOver = before < 0 ? -1 : placeOf[before];
  }
  llvm::StringSet<> taken = tensorNames;
  buffers = PlaceTable(std::move(places), taken);
  hasGaps |= buffers.hasGaps();
  scratchName.clear();
  for (auto [index, content] : llvm::enumerate(all))
    if (exec::BufferOp(content.buffer).getScratch())
      scratchName = buffers[placeOf[index]];
}

std::string PlaceNames::of(Value ref, int64_t extraBytes) const {
  Operation *storage = arena.storageOf(ref);
  int64_t offset = static_cast<int64_t>(arena.offsetOf(ref)) + extraBytes;
  auto text = [&](const PlaceTable &table, unsigned place) {
    int64_t within = offset - table.at(place).offset;
    return table[place] + (within ? " + " + std::to_string(within) : "");
  };
  if (auto tensor = tensorOf.find(storage); tensor != tensorOf.end())
    return text(tensors, tensor->second);
  int content = isa<exec::BufferOp>(storage) ? contents->addressed(ref) : -1;
  // Packs, and bytes that no action writes, have no constant.
  return content < 0 || placeOf[content] < 0 ? std::to_string(offset) : text(buffers, placeOf[content]);
}

std::string PlaceNames::tensorsText() const {
  return std::string(
             "// Where tensors lie that live across programs and steps: bytes of the arena.\nnamespace at {\n") +
         (hasGaps ? "inline constexpr uint64_t none = ~uint64_t{0}; // in arrays: a layer without the tensor\n" : "") +
         tensors.declarations() + "} // namespace at\n";
}
