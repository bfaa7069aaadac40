//===- OffloadActivations.cpp - keep activations in host memory -----------===//
//
// Combines the values that forward defines and backward reads, with their times, the choice of tensors to offload
// (lib/Schedule/HostTrips), and the copies.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "lib/Actions/ActionGraph.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Machine.h"
#include "lib/Memory/ContentNames.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/Reads.h"
#include "lib/Memory/Size.h"
#include "lib/Schedule/HostTrips.h"
#include "mlir/IR/IRMapping.h"
#define GEN_PASS_DEF_OFFLOADACTIVATIONSPASS
#include "passes/Memory/Passes.h"

using namespace mlir;
using namespace braid;
using exec::ActionOpInterface;

namespace {
/// A value that forward defines and backward reads.
struct Kept {
  Value value;
  /// Numbers of the last action that defines a part of it, of its last use in forward, and of its first use behind
  /// forward.
  unsigned made = 0, lastUse = 0, use = 0;
  SmallVector<OpOperand *> lateReads = {};
  int64_t bytes = 0;
};

class ActivationOffload {
public:
  /// `givenBytes`: size below which a tensor stays on the device, if the user gives one.
  ActivationOffload(func::FuncOp program, const Machine &machine, std::optional<int64_t> givenBytes, bool all)
      : program(program), block(program.getBody().front()), graph(block), compute(machine.compute), host(machine.host),
        givenBytes(givenBytes), minBytes(givenBytes.value_or(all ? 0 : host.bytesPerLatency())), all(all),
        names(program), builder(program.getContext()) {}
  LogicalResult run();

  /// Number of tensors kept for backward, and number of these that are offloaded.
  unsigned numKept = 0, numOffloaded = 0;

private:
  void readActions();
  void readFetches();
  void readKept();
  std::optional<Kept> keptOf(Value value) const;
  FailureOr<HostTrips> choose();
  void remark(const Kept &kept, bool isOffloaded, const HostTrip &trip);
  void move(Kept &kept);
  Value viewOf(Value value, Value root, Value fetched, DenseMap<Value, Value> &views);

  func::FuncOp program;
  Block &block;
  ActionGraph graph;
  const ComputeRates &compute;
  const HostRates &host;
  std::optional<int64_t> givenBytes;
  int64_t minBytes;
  bool all;
  ContentNames names;
  OpBuilder builder;
  ActionOpInterface actionAt(unsigned number) const { return cast<ActionOpInterface>(graph.actions()[number]); }
  HostTripsProblem problem;
  /// Tensors that are worth the latency of their copies, as in the problem; and all others.
  std::vector<Kept> kept, small;
};
} // namespace

//===----------------------------------------------------------------------===//
// Actions and kept values
//===----------------------------------------------------------------------===//

static bool hasPhase(tg::Phase phase, tg::FactsAttr facts) { return facts && facts.getPhase() == phase; }

static bool makes(ActionOpInterface action, tg::Phase phase) {
  return llvm::any_of(tg::factsOfTensors(action->getResults()),
                      [&](tg::FactsAttr facts) { return hasPhase(phase, facts); });
}

/// Reads when each action begins if communication takes no time, as when it is hidden. The program turns where
/// backward begins.
void ActivationOffload::readActions() {
  double now = 0;
  problem.begins.push_back(now);
  std::optional<unsigned> turn;
  for (unsigned number = 0; number < graph.size(); ++number) {
    ActionOpInterface action = actionAt(number);
    if (!turn && makes(action, tg::Phase::Backward) && !makes(action, tg::Phase::Forward))
      turn = number;
    now += isa<comm::QueuedOpInterface>(action.getOperation()) ? 0 : compute.seconds(action);
    problem.begins.push_back(now);
  }
  problem.turn = turn.value_or(graph.size());
}

/// Reads the copies that the optimizer fetches.
void ActivationOffload::readFetches() {
  for (Operation *action : graph.actions()) {
    auto copy = dyn_cast<comm::CopyOp>(action);
    if (!copy || copy.getQueue() != comm::Queue::FromHost)
      continue;
    unsigned use = graph.size();
    for (Value result : copy.getResults())
      forEachRead(result, [&](OpOperand &read) {
        if (Operation *reader = readerOf(read); graph.contains(reader))
          use = std::min(use, graph.numberOf(reader));
      });
    if (use < graph.size())
      problem.others.push_back({use, host.seconds(copy)});
  }
}

/// Returns nothing if the value is not an activation, is returned, is part of a concat (which is kept whole), or if
/// backward begins before forward's last use.
std::optional<Kept> ActivationOffload::keptOf(Value value) const {
  tg::FactsAttr facts = tg::factsOfTensor(value);
  if (!hasPhase(tg::Phase::Forward, facts) || tg::kindOf(facts) || isa<comm::CopyOp>(value.getDefiningOp()))
    return std::nullopt;
  Kept kept{value};
  kept.bytes = bytesOf(TypeRange(value.getType()));
  graph.forEachProducer(value, [&](Operation *op) { kept.made = std::max(kept.made, graph.numberOf(op)); });
  kept.lastUse = kept.made;
  kept.use = graph.size();
  bool isMovable = true;
  forEachRead(value, [&](OpOperand &read) {
    Operation *reader = readerOf(read);
    if (!graph.contains(reader)) {
      isMovable = false;
    } else if (makes(cast<ActionOpInterface>(reader), tg::Phase::Forward)) {
      kept.lastUse = std::max(kept.lastUse, graph.numberOf(reader));
    } else {
      kept.use = std::min(kept.use, graph.numberOf(reader));
      kept.lateReads.push_back(&read);
    }
  });
  if (!isMovable || kept.lateReads.empty() || kept.lastUse >= kept.use)
    return std::nullopt;
  return kept;
}

void ActivationOffload::readKept() {
  auto add = [&](Value value) {
    std::optional<Kept> found = keptOf(value);
    if (!found)
      return;
    ++numKept;
    (found->bytes < minBytes ? small : kept).push_back(std::move(*found));
  };
  for (Operation &op : block) {
    auto concat = dyn_cast<exec::ConcatOp>(op);
    if (isa<ActionOpInterface>(op) || (concat && !packOf(concat)))
      llvm::for_each(op.getResults(), add);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

FailureOr<HostTrips> ActivationOffload::choose() {
  for (const Kept &tensor : kept)
    problem.tensors.push_back({tensor.bytes, tensor.made, tensor.use, host.seconds(tensor.bytes)});
  auto fail = [&](llvm::Error error) {
    return program.emitError() << "offloading activations: " << llvm::toString(std::move(error));
  };
  if (llvm::Error error = check(problem))
    return fail(std::move(error));
  if (all) {
    std::vector<bool> isOffloaded(kept.size(), true);
    return HostTrips{isOffloaded, simulate(problem, isOffloaded)};
  }
  HostTrips answer = solve(problem);
  if (llvm::Error error = verify(problem, answer))
    return fail(std::move(error));
  return answer;
}

/// Reports whether a tensor is offloaded, and why.
void ActivationOffload::remark(const Kept &kept, bool isOffloaded, const HostTrip &trip) {
  auto result = dyn_cast<OpResult>(kept.value);
  Operation *op = result.getOwner();
  auto action = dyn_cast<ActionOpInterface>(op);
  std::string name = action ? names.nameOf(action, result.getResultNumber()) : "concat";
  double seconds = host.seconds(kept.bytes), gap = problem.begins[kept.use] - problem.begins[kept.made + 1];
  double exposed = trip.offloadDelay + trip.fetchDelay;
  InFlightDiagnostic remark = emitRemark(program.getLoc())
                              << "@" << program.getSymName() << ": " << name << ", " << formatSize(kept.bytes) << ", "
                              << (isOffloaded ? "waits in the host's memory: " : "stays on the device: ");
  if (kept.bytes < minBytes && givenBytes)
    remark << "it is smaller than the " << formatSize(minBytes) << " of min-bytes";
  else if (kept.bytes < minBytes)
    remark << "the latency of a copy below " << formatSize(minBytes) << " exceeds its transfer time";
  else if (isOffloaded && exposed == 0)
    remark << "two copies of " << formatMicroseconds(seconds) << " each are hidden in the " << formatMicroseconds(gap)
           << " until it is read again";
  else
    remark << "of two copies of " << formatMicroseconds(seconds) << " each, in the " << formatMicroseconds(gap)
           << " until it is read again, " << formatMicroseconds(exposed)
           << (isOffloaded ? " are exposed" : " would be exposed")
           << (trip.offloadDelay > 0 ? ", because forward ends before the copy to the host"
                                     : ", because backward reads it before the copy from the host ends");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Returns the view of the fetched tensor that corresponds to `value`, a view of `root`.
Value ActivationOffload::viewOf(Value value, Value root, Value fetched, DenseMap<Value, Value> &views) {
  if (value == root)
    return fetched;
  Value &known = views[value];
  if (known)
    return known;
  auto view = cast<exec::ViewOp>(value.getDefiningOp());
  Value source = viewOf(view.getSource(), root, fetched, views);
  IRMapping mapping;
  mapping.map(view.getSource(), source);
  return views[value] = builder.clone(*view, mapping)->getResult(0);
}

/// Copies the tensor to the host behind the last use in forward, so that it is not overwritten before, and back before
/// the first use in backward.
void ActivationOffload::move(Kept &kept) {
  tg::FactsAttr facts = tg::factsOfTensor(kept.value);
  Operation *behind = kept.lastUse == kept.made ? kept.value.getDefiningOp() : graph.actions()[kept.lastUse];
  Location location = tg::locationOf(kept.value);
  builder.setInsertionPointAfter(behind);
  auto away = builder.create<comm::CopyOp>(location, kept.value, comm::Memory::Host);
  builder.setInsertionPoint(graph.actions()[kept.use]);
  auto back = builder.create<comm::CopyOp>(
      tg::withFacts(location, tg::getFacts(program.getContext(), tg::Phase::Backward, tg::unitOf(facts))),
      away.getResults(), comm::Memory::Device);
  DenseMap<Value, Value> views;
  SmallVector<Operation *> old;
  for (OpOperand *read : kept.lateReads) {
    Value value = read->get();
    read->set(viewOf(value, kept.value, back.getResult(0), views));
    for (auto view = value.getDefiningOp<exec::ViewOp>(); view && view->use_empty();) {
      Value source = view.getSource();
      view.erase();
      view = source == kept.value ? exec::ViewOp() : source.getDefiningOp<exec::ViewOp>();
    }
  }
}

LogicalResult ActivationOffload::run() {
  readActions();
  readFetches();
  readKept();
  FailureOr<HostTrips> answer = choose();
  if (failed(answer))
    return failure();
  int64_t bytes = 0, awayBytes = 0;
  for (const Kept &tensor : small) {
    remark(tensor, /*isOffloaded=*/false, {});
    bytes += tensor.bytes;
  }
  for (auto [number, tensor] : llvm::enumerate(kept)) {
    bytes += tensor.bytes;
    remark(tensor, answer->isOffloaded[number], answer->trips[number]);
    if (!answer->isOffloaded[number])
      continue;
    move(tensor);
    awayBytes += tensor.bytes;
    ++numOffloaded;
  }
  if (numKept > 0)
    emitRemark(program.getLoc()) << "@" << program.getSymName() << ": " << numOffloaded << " of " << numKept
                                 << " tensors kept for backward, " << formatSize(awayBytes) << " of "
                                 << formatSize(bytes) << ", wait in the host's memory";
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OffloadActivations final : braid::impl::OffloadActivationsPassBase<OffloadActivations> {
  using OffloadActivationsPassBase::OffloadActivationsPassBase;

  LogicalResult offload(const Machine &machine) {
    ModuleOp module = getOperation();
    if (!machine.target->gpu)
      return module.emitError() << "the " << machine.target->name
                                << " target has only the memory of the host, so no activation can be offloaded to it";
    std::optional<int64_t> givenBytes = minBytes < 0 ? std::nullopt : std::optional<int64_t>(minBytes);
    unsigned kept = 0, away = 0;
    for (auto program : module.getOps<func::FuncOp>()) {
      if (!program.getBody().hasOneBlock())
        continue;
      ActivationOffload offload(program, machine, givenBytes, all);
      if (failed(offload.run()))
        return failure();
      kept += offload.numKept;
      away += offload.numOffloaded;
    }
    if (kept == 0)
      return module.emitError() << "no program keeps an activation for backward that could wait in the host's memory";
    if (away == 0)
      module.emitWarning() << "none of the " << kept
                           << " activations kept for backward can be copied to the host and back before backward reads "
                              "it, so all stay on the device";
    return success();
  }

  void runOnOperation() final {
    FailureOr<Machine> machine = machineOf(getOperation());
    if (failed(machine) || failed(offload(*machine)))
      signalPassFailure();
  }
};
} // namespace
