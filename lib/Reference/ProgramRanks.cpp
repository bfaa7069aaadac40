//===- ProgramRanks.cpp - a program on all ranks of its mesh --------------===//
//
// Inputs and results of a local program are logical: every rank gets its part of an
// input, and the parts of a result are joined. If two ranks hold the same part, they
// must agree in every bit. The interpreter does not depend on the order of ranks, so
// any difference comes from the program.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "dialects/Comm/Sharding.h"
#include "lib/Reference/Blocks.h"
#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Memory.h"
#include "lib/Reference/Program.h"
#include "lib/Reference/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns the place in the logical tensor of each element of a rank's part.
static Places placesOfPart(ArrayRef<int64_t> shape, comm::ShardingAttr sharding, const comm::Mesh &mesh, int64_t rank) {
  Places places(elementCount(shape));
  for (size_t k = 0; k < places.size(); ++k)
    places[k] = k;
  Index part(shape);
  auto split = [&](int64_t dim, comm::AxesAttr axes) {
    int64_t n = mesh.sizeOf(axes);
    Places block = placesOfBlock(part, dim, n, mesh.numberInGroup(rank, axes));
    for (int64_t &place : block)
      place = place < 0 ? -1 : places[place];
    places = std::move(block);
    part = blockShape(part, dim, n);
  };
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
    split(dim, axes);
  if (sharding.isFlat())
    split(comm::kFlat, sharding.getFlat());
  return places;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Returns a number that loses against `e` in a max (or min).
static Element dominatedElement(Type type, Element e, bool max) {
  if (isFloat(type))
    return std::isfinite(e.f) ? ofFloat(max ? e.f - 1 - std::abs(e.f) : e.f + 1 + std::abs(e.f)) : e;
  if (type.isInteger(1))
    return ofInt(max ? 0 : 1);
  int64_t other = max ? e.i - 1 : e.i + 1;
  return ofInt(wrapTo(type, other) == other ? other : e.i);
}

/// Returns the piece of an element that rank `i` of `n` holds. The pieces differ, and
/// combine to the element. The pieces of a sum are 2, -1/2, -1/4, ... of it, whose
/// products are exact; ints cannot be halved.
static Element pieceOf(Type type, Element e, comm::Reduction kind, int64_t place, int64_t i, int64_t n) {
  if (n == 1)
    return e;
  if (kind == comm::Reduction::Max || kind == comm::Reduction::Min)
    return place % n == i ? e : dominatedElement(type, e, kind == comm::Reduction::Max);
  if (!isFloat(type))
    return ofInt(wrapTo(type, i == 0 ? 2 * e.i : i == n - 1 ? -e.i : 0));
  double weight = i == 0 ? 2 : -std::ldexp(1.0, -static_cast<int>(std::min(i, n - 2)));
  return ofFloat(e.f * weight * (kind == comm::Reduction::Mean ? n : 1));
}

/// Returns the part of a logical tensor that a rank holds. Partial values differ between
/// ranks and combine to the tensor.
static Tensor partOf(const Tensor &logical, comm::ShardingAttr sharding, const comm::Mesh &mesh, int64_t rank,
                     Arithmetic arithmetic) {
  auto type = RankedTensorType::get(logical.shape, logical.elementType);
  Tensor part(comm::localType(type, sharding, mesh));
  Places places = placesOfPart(logical.shape, sharding, mesh, rank);
  int64_t pieces = mesh.sizeOf(sharding.getPartial()), piece = mesh.numberInGroup(rank, sharding.getPartial());
  for (int64_t k = 0; k < part.size(); ++k)
    if (places[k] >= 0)
      part[k] = pieceOf(part.elementType, logical[places[k]], sharding.getReduction(), places[k], piece, pieces);
  if (arithmetic == Arithmetic::Native)
    part.round();
  return part;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {
/// A rank's part of a result.
struct Part {
  int64_t rank;
  comm::ShardingAttr sharding;
  Tensor tensor;
};

/// One copy of the logical tensor for each number of a partial value, with the rank that each element came from.
struct Copy {
  Copy(RankedTensorType type) : tensor(type), ranks(tensor.size(), -1) {}
  Tensor tensor;
  std::vector<int64_t> ranks;
};
} // namespace

/// Returns whether two elements have equal bits; all NaNs are equal.
static bool same(const Tensor &a, int64_t i, const Tensor &b, int64_t k) {
  return a[i].i == b[k].i || (a.hasFloats() && std::isnan(a.f(i)) && std::isnan(b.f(k)));
}

/// Writes a part to its place; elements that are already there must be the same.
static llvm::Error placePart(const Part &part, Copy &copy, const comm::Mesh &mesh, const std::string &what) {
  Tensor &whole = copy.tensor;
  Places places = placesOfPart(whole.shape, part.sharding, mesh, part.rank);
  for (int64_t k = 0; k < part.tensor.size(); ++k) {
    int64_t place = places[k];
    if (place < 0)
      continue;
    int64_t &rank = copy.ranks[place];
    if (rank >= 0 && !same(whole, place, part.tensor, k))
      return llvm::createStringError(what + " differs between rank " + std::to_string(rank) + " and rank " +
                                     std::to_string(part.rank) + ", which hold the same part: element " +
                                     indexText(indexOfPlace(whole.shape, place)) + " is " + exactText(whole, place) +
                                     " and " + exactText(part.tensor, k));
    if (rank < 0) {
      rank = part.rank;
      whole[place] = part.tensor[k];
    }
  }
  return llvm::Error::success();
}

/// Joins parts to the logical tensor. Fails if replicas differ or a part is missing;
/// messages call the result `what`.
static llvm::Expected<Tensor> joinParts(ArrayRef<Part> parts, RankedTensorType type, const comm::Mesh &mesh,
                                        const std::string &what, Arithmetic arithmetic) {
  comm::ShardingAttr first = parts.front().sharding;
  for (const Part &part : parts)
    if (part.sharding.getPartial() != first.getPartial() || part.sharding.getReduction() != first.getReduction())
      return llvm::createStringError(what + " is partial differently on rank " + std::to_string(parts.front().rank) +
                                     " and on rank " + std::to_string(part.rank));
  std::vector<Copy> copies(mesh.sizeOf(first.getPartial()), Copy(type));
  for (const Part &part : parts)
    if (llvm::Error error = placePart(part, copies[mesh.numberInGroup(part.rank, first.getPartial())], mesh, what))
      return error;
  SmallVector<const Tensor *> tensors;
  for (const Copy &copy : copies) {
    if (auto missing = llvm::find(copy.ranks, -1); missing != copy.ranks.end())
      return llvm::createStringError("no rank returns element " +
                                     indexText(indexOfPlace(type.getShape(), missing - copy.ranks.begin())) + " of " +
                                     what);
    tensors.push_back(&copy.tensor);
  }
  Tensor joined = combine(first.getReduction(), tensors);
  if (arithmetic == Arithmetic::Native)
    joined.round();
  return joined;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

static comm::ProgramAttr programOf(Operation *op) {
  return op->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
}

const Program::Member *Program::memberOf(int64_t rank, const comm::Mesh &mesh) const {
  const Member *member =
      llvm::find_if(members, [&](const Member &candidate) { return mesh.runs(programOf(candidate.op), rank); });
  return member == members.end() ? nullptr : member;
}

bool Program::isOfMicrobatch(const ResultSlot &slot) const {
  return llvm::any_of(inputs,
                      [&](const InputSlot &input) { return input.isOfMicrobatch && input.name == slot.updates; });
}

/// Returns the process of a function or program with these `arguments`.
static FailureOr<std::unique_ptr<Process>> begin(Operation *op, SmallVector<Tensor> arguments, Arithmetic arithmetic,
                                                 Network *network, int64_t rank) {
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return function.emitError("the interpreter runs functions of one block");
    return std::unique_ptr<Process>(new FunctionRun(function, arguments, arithmetic, network, rank));
  }
  auto machine = std::make_unique<Machine>(cast<exec::ProgramOp>(op), arithmetic, network, rank);
  if (failed(machine->check()))
    return failure();
  machine->write(arguments);
  return std::unique_ptr<Process>(std::move(machine));
}

Results Program::runOnOne(ArrayRef<Tensor> arguments, Arithmetic arithmetic) const {
  FailureOr<std::unique_ptr<Process>> process =
      begin(op(), SmallVector<Tensor>(arguments), arithmetic, /*network=*/nullptr, /*rank=*/0);
  if (failed(process) || failed((*process)->advance()))
    return failure();
  return (*process)->returned();
}

/// Upper limit of ranks: every rank has its own copy of all values.
static constexpr int64_t kMaxRanks = 4096;

/// Returns the name of a result in messages: `result 0 'loss'`.
static std::string describe(const ResultSlot &slot, size_t number) {
  std::string name = slot.name();
  return "result " + std::to_string(number) + (name.empty() ? "" : " '" + name + "'");
}

Results Program::runOnRanks(ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank,
                            HeldTensors *held) const {
  FlatSymbolRefAttr name = programOf(op()).getMesh();
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(op(), name);
  if (failed(mesh))
    return failure();
  if (mesh->getNumRanks() > kMaxRanks)
    return op()->emitError() << "is the program of " << mesh->getNumRanks() << " ranks; the interpreter runs up to "
                             << kMaxRanks << " in its process, so make the axes of " << name << " smaller";
  Network network(*mesh, name, arithmetic);
  std::vector<std::unique_ptr<Process>> processes;
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    const Member *member = memberOf(rank, *mesh);
    if (!member) {
      processes.push_back(nullptr);
      continue;
    }
    SmallVector<Tensor> own;
    for (const Held &input : member->inputs)
      if (held && inputs[input.slot].isOfMicrobatch)
        own.push_back(held->try_emplace({rank, inputs[input.slot].name}, inputs[input.slot].type).first->second);
      else
        own.push_back(partOf(arguments[input.slot], input.sharding, *mesh, rank, arithmetic));
    FailureOr<std::unique_ptr<Process>> process = begin(member->op, std::move(own), arithmetic, &network, rank);
    if (failed(process))
      return failure();
    processes.push_back(std::move(*process));
  }
  if (failed(runRanks(processes, network)))
    return failure();

  std::vector<std::vector<Part>> parts(results.size());
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    if (!processes[rank])
      continue;
    Results returned = processes[rank]->returned();
    if (failed(returned))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(memberOf(rank, *mesh)->results, *returned)) {
      if (held && isOfMicrobatch(results[result.slot])) {
        (*held)[{rank, results[result.slot].updates}] = tensor;
        continue;
      }
      parts[result.slot].push_back({rank, result.sharding, tensor});
      if (perRank)
        perRank->push_back({rank, result.slot, tensor});
    }
  }
  SmallVector<Tensor> made;
  for (auto [i, slot] : llvm::enumerate(results)) {
    if (held && isOfMicrobatch(slot)) {
      made.emplace_back(slot.type);
      continue;
    }
    llvm::Expected<Tensor> joined = joinParts(parts[i], slot.type, *mesh, describe(slot, i), arithmetic);
    if (!joined)
      return emitError(joined.takeError());
    made.push_back(std::move(*joined));
  }
  return made;
}
