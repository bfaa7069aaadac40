//===- Storages.cpp - storages of arguments and results -------------------===//

#include "lib/Memory/Storages.h"
#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;

static Storage storageOf(Storage::Kind kind, RankedTensorType type, std::string name, std::string role = "",
                         DictionaryAttr attributes = {}) {
  int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
  return {kind, bytes, type, std::move(name), std::move(role), partIn(attributes)};
}

static Storage argumentStorage(func::FuncOp program, unsigned index) {
  auto type = cast<RankedTensorType>(program.getArgumentTypes()[index]);
  tg::ArgumentAttrs argument(program, index);
  if (StringAttr name = argument.persistentName())
    return storageOf(Storage::Kind::Persistent, type, name.str());
  return storageOf(Storage::Kind::Input, type, argument.input ? argument.input.str() : "arg" + std::to_string(index),
                   argument.role ? tg::stringifyRole(argument.role.getValue()).str() : "",
                   program.getArgAttrDict(index));
}

/// Appends a storage to the pack's parameters so far; `known` is the number of the pack's storage if there is one yet.
static Place addToPack(const Storage &storage, std::optional<unsigned> &known, Places &places) {
  if (!known) {
    known = places.storages.size();
    places.storages.push_back(storage);
    return {*known, Layout::contiguous(storage.type.getShape())};
  }
  Place place{*known, Layout::contiguous(storage.type.getShape())};
  int64_t &bytes = places.storages[*known].bytes;
  place.layout.offset = bytes / elementBytes(storage.type.getElementType());
  bytes += storage.bytes;
  return place;
}

void braid::addArguments(func::FuncOp program, Places &places) {
  DenseMap<StringAttr, std::optional<unsigned>> packs;
  for (BlockArgument argument : program.getArguments()) {
    Storage storage = argumentStorage(program, argument.getArgNumber());
    std::optional<unsigned> none;
    StringAttr pack = packOf(argument);
    if (pack)
      storage.name = pack.str();
    places.places[argument] = addToPack(storage, pack ? packs[pack] : none, places);
  }
  for (auto concat : program.getBody().front().getOps<exec::ConcatOp>())
    if (packOf(concat))
      places.places[concat.getResult()] = {places.places[concat.getInputs().front()].storage,
                                           Layout::contiguous(concat.getType().getShape())};
}

Storage braid::resultStorage(func::FuncOp program, unsigned index) {
  tg::ResultAttrs result(program, index);
  std::string role;
  if (result.role)
    role = tg::stringifyRole(result.role.getValue()).str();
  else if (result.output)
    role = result.output.str();
  else if (result.gradientOf)
    role = "grad_of " + result.gradientOf.str();
  std::string name = role.empty() ? "result" + std::to_string(index) : role;
  auto type = cast<RankedTensorType>(program.getResultTypes()[index]);
  return storageOf(Storage::Kind::Result, type, name, role, program.getResultAttrDict(index));
}

Storage braid::transientStorage(RankedTensorType type) { return storageOf(Storage::Kind::Transient, type, ""); }

LogicalResult braid::checkSignature(func::FuncOp program) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types))
      if (std::string problem = problemOfShape(type); !problem.empty())
        return program.emitError() << what << " #" << index << " of type " << type << " " << problem;
    return success();
  };
  return failure(failed(check(program.getArgumentTypes(), "argument")) ||
                 failed(check(program.getResultTypes(), "result")));
}

LogicalResult braid::checkSum(func::FuncOp program, ArrayRef<Storage> storages) {
  constexpr int64_t kMaxBytes = int64_t(1) << 60;
  int64_t sum = 0;
  for (const Storage &storage : storages) {
    if (storage.bytes > kMaxBytes - sum)
      return program.emitError()
             << "the tensors of '" << program.getSymName()
             << "' have more than 2^60 bytes together, which no memory holds; make the batch or the model smaller";
    sum += storage.bytes;
  }
  return success();
}
