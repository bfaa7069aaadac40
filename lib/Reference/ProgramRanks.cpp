//===- ProgramRanks.cpp - a program on all ranks of its mesh --------------===//

#include "lib/Reference/Evaluator.h"
#include "lib/Reference/Memory.h"
#include "lib/Reference/Program.h"
#include "lib/Reference/Shards.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static comm::ProgramAttr programOf(Operation *op) {
  return op->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
}

const Program::Member &Program::memberOf(int64_t rank, const comm::Mesh &mesh) const {
  const Member *member =
      llvm::find_if(members, [&](const Member &candidate) { return mesh.runs(programOf(candidate.op), rank); });
  assert(member != members.end() && "functions of a program cover all ranks");
  return *member;
}

/// The process of a function or program that takes `arguments`.
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

/// Every rank has its own copy of all values.
static constexpr int64_t kMaxRanks = 4096;

/// How a result is called in messages: `result 0 'loss'`.
static std::string describe(const ResultSlot &slot, size_t number) {
  std::string name = slot.name();
  return "result " + std::to_string(number) + (name.empty() ? "" : " '" + name + "'");
}

Results Program::runOnRanks(ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank) const {
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
    const Member &member = memberOf(rank, *mesh);
    SmallVector<Tensor> own;
    for (const Held &input : member.inputs)
      own.push_back(partOf(arguments[input.slot], input.sharding, *mesh, rank, arithmetic));
    FailureOr<std::unique_ptr<Process>> process = begin(member.op, std::move(own), arithmetic, &network, rank);
    if (failed(process))
      return failure();
    processes.push_back(std::move(*process));
  }
  if (failed(runRanks(processes, network)))
    return failure();

  std::vector<std::vector<Part>> parts(results.size());
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    Results returned = processes[rank]->returned();
    if (failed(returned))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(memberOf(rank, *mesh).results, *returned)) {
      parts[result.slot].push_back({rank, result.sharding, tensor});
      if (perRank)
        perRank->push_back({rank, result.slot, tensor});
    }
  }
  SmallVector<Tensor> made;
  for (auto [i, slot] : llvm::enumerate(results)) {
    llvm::Expected<Tensor> joined = joinParts(parts[i], slot.type, *mesh, describe(slot, i), arithmetic);
    if (!joined)
      return emitError(joined.takeError());
    made.push_back(std::move(*joined));
  }
  return made;
}
