//===- RecordedAssignment.cpp - buffer assignment from pass to pass -------===//

#include "lib/Memory/RecordedAssignment.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Reads.h"
#include "lib/Memory/Storages.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

/// Returns the values with places of their own, in block order.
static SmallVector<Value> assignedValues(Block &block) {
  SmallVector<Value> values;
  for (Operation &op : block) {
    if (auto action = dyn_cast<ActionOpInterface>(op))
      llvm::append_range(values, action.getActionResults());
    else if (auto concat = dyn_cast<ConcatOp>(op))
      values.push_back(concat.getResult());
  }
  return values;
}

void braid::recordAssignment(func::FuncOp program, const Places &places, int64_t liveBytes) {
  Builder builder(program.getContext());
  SmallVector<Attribute> recorded;
  for (Value value : assignedValues(program.getBody().front())) {
    const Place &place = places.places.at(value);
    SmallVector<int64_t> numbers{place.storage, place.layout.offset};
    llvm::append_range(numbers, place.layout.strides);
    recorded.push_back(builder.getDenseI64ArrayAttr(numbers));
  }
  Places ofArguments;
  addArguments(program, ofArguments);
  SmallVector<int64_t> storages;
  for (const Storage &storage : ArrayRef(places.storages).drop_front(ofArguments.storages.size()))
    storages.append({storage.bytes, storage.paddingBytes});
  program->setAttr(kAssignment, builder.getDictionaryAttr({
                                    builder.getNamedAttr("live_bytes", builder.getI64IntegerAttr(liveBytes)),
                                    builder.getNamedAttr("places", builder.getArrayAttr(recorded)),
                                    builder.getNamedAttr("storages", builder.getDenseI64ArrayAttr(storages)),
                                }));
}

std::optional<int64_t> braid::recordedLiveBytes(func::FuncOp program) {
  auto recorded = program->getAttrOfType<DictionaryAttr>(kAssignment);
  return recorded ? std::optional(recorded.getAs<IntegerAttr>("live_bytes").getInt()) : std::nullopt;
}

/// Adds the storages of arguments, then the recorded ones.
static void addStorages(func::FuncOp program, ArrayRef<int64_t> recorded, Places &places) {
  addArguments(program, places);
  for (size_t index = 0; index + 1 < recorded.size(); index += 2) {
    Storage storage{Storage::Kind::Transient, recorded[index], {}, {}, {}, {}};
    storage.paddingBytes = recorded[index + 1];
    places.storages.push_back(std::move(storage));
  }
}

/// Numbers transient storages like an assignment in the present order: from the last writer to
/// the first. Offsets depend slightly on these numbers.
static void renumber(Places &places) {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, places.storages.size())), numbers(order.size());
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    auto key = [&](unsigned number) {
      const Storage &storage = places.storages[number];
      bool isTransient = storage.kind == Storage::Kind::Transient;
      return std::pair(isTransient, isTransient ? -storage.lastWriter : 0);
    };
    return key(a) < key(b);
  });
  std::vector<Storage> storages;
  for (auto [number, old] : llvm::enumerate(order)) {
    numbers[old] = number;
    storages.push_back(std::move(places.storages[old]));
  }
  places.storages = std::move(storages);
  for (auto &[value, place] : places.places)
    place.storage = numbers[place.storage];
}

FailureOr<Places> braid::readAssignment(func::FuncOp program) {
  auto recorded = program->getAttrOfType<DictionaryAttr>(kAssignment);
  auto numbers = recorded.getAs<ArrayAttr>("places").getAsRange<DenseI64ArrayAttr>();
  Block &block = program.getBody().front();
  SmallVector<Value> values = assignedValues(block);
  Places places;
  addStorages(program, recorded.getAs<DenseI64ArrayAttr>("storages"), places);
  if (values.size() != static_cast<size_t>(llvm::range_size(numbers)))
    return program.emitOpError() << "has " << values.size() << " values, but its buffer assignment has "
                                 << llvm::range_size(numbers)
                                 << "; run no pass that changes the program between comm-overlap and exec-plan-memory";
  for (auto [value, place] : llvm::zip_equal(values, numbers)) {
    ArrayRef<int64_t> strides = place.asArrayRef().drop_front(2);
    if (static_cast<size_t>(place[0]) >= places.storages.size() ||
        strides.size() != static_cast<size_t>(cast<RankedTensorType>(value.getType()).getRank()))
      return program.emitOpError()
             << "has a buffer assignment that gives a value of type " << value.getType() << " the place " << place
             << "; run no pass that changes the program between comm-overlap and exec-plan-memory";
    places.places[value] = {static_cast<unsigned>(place[0]), {place[1], llvm::to_vector(strides)}};
  }
  for (OpOperand &returned : block.getTerminator()->getOpOperands()) {
    if (tg::updatedTensorName(returned))
      continue;
    Storage &storage = places.storages[places.places.at(rootOf(returned.get())).storage];
    int64_t bytes = storage.bytes;
    storage = resultStorage(program, returned.getOperandNumber());
    storage.bytes = bytes;
  }
  assignViews(block, places);
  findLifetimes(block, places);
  renumber(places);
  return places;
}
