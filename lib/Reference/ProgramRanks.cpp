//===- ProgramRanks.cpp - a program on all ranks of its mesh --------------===//

#include "dialects/Comm/Sharding.h"
#include "lib/Reference/Evaluator.h"
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

/// The parts of a rank for the arguments of its function.
static SmallVector<Tensor> partsOf(func::FuncOp function, ArrayRef<unsigned> slots, ArrayRef<Tensor> logical,
                                   const comm::Mesh &mesh, int64_t rank) {
  FlatSymbolRefAttr name = programOf(function).getMesh();
  SmallVector<Tensor> parts;
  for (auto [i, slot] : llvm::enumerate(slots))
    parts.push_back(partOf(logical[slot], comm::shardingOfArgument(function, i, name), mesh, rank));
  return parts;
}

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
  Network network(*mesh, name, arithmetic);
  std::vector<std::unique_ptr<FunctionRun>> runs;
  SmallVector<Process *> processes;
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    const Member &member = memberOf(rank, *mesh);
    auto function = cast<func::FuncOp>(member.op);
    runs.push_back(std::make_unique<FunctionRun>(function, partsOf(function, member.inputs, arguments, *mesh, rank),
                                                 arithmetic, &network, rank));
    processes.push_back(runs.back().get());
  }
  if (failed(runRanks(processes, network)))
    return failure();

  std::vector<std::vector<Part>> parts(results.size());
  for (auto [rank, run] : llvm::enumerate(runs)) {
    const Member &member = memberOf(rank, *mesh);
    for (auto [i, tensor] : llvm::enumerate(run->returned())) {
      unsigned slot = member.results[i];
      parts[slot].push_back({static_cast<int64_t>(rank), comm::shardingOfResult(member.op, i, name), tensor});
      if (perRank)
        perRank->push_back({static_cast<int64_t>(rank), slot, tensor});
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
