//===- Plan.cpp - numbers of a module in memory form ----------------------===//

#include "lib/Memory/Plan.h"
#include "dialects/Comm/Programs.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/TG/Facts.h"
#include "lib/Memory/ContentNames.h"
#include "lib/Memory/Lifetimes.h"
#include "lib/Memory/Placement.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <optional>

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {
/// Memory cost of updates that do not run as soon as their gradients are there.
struct WaitingGradients {
  /// By name of a buffer with gradients: the action after the last one that uses it outside of
  /// the update. The update could run there.
  llvm::StringMap<int64_t> needed;
  /// Whether updates need the norm of all gradients, as for clipping.
  bool waitForNorm = false;

  explicit WaitingGradients(exec::ProgramOp program);
};
} // namespace

static StringRef bufferOf(Value ref) { return ref.getDefiningOp<RefOp>().getBuffer(); }

/// Returns whether all results of an action belong to the update phase.
static bool isOfUpdate(ActionOpInterface action) {
  unsigned count = action.getActionOuts().size();
  return count > 0 && llvm::all_of(llvm::seq(count), [&](unsigned out) {
           tg::FactsAttr facts = tg::factsOfTensor(action.getLoc(), out, count);
           return facts && facts.getPhase() == tg::Phase::Update;
         });
}

WaitingGradients::WaitingGradients(ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::StringSet<> buffers, gradients, ofNorm;
  for (auto buffer : body.getOps<BufferOp>()) {
    buffers.insert(buffer.getSymName());
    if (buffer.getCategory() == Category::Gradients)
      gradients.insert(buffer.getSymName());
    if (buffer.getRole() == tg::stringifyRole(tg::Role::GradNorm))
      ofNorm.insert(buffer.getSymName());
  }
  int64_t index = 0;
  for (auto action : body.getOps<ActionOpInterface>()) {
    ++index;
    auto begun = cast<ActionOpInterface>(action.getActionBegin());
    SmallVector<Value> touched(begun.getActionIns());
    llvm::append_range(touched, begun.getActionOuts());
    if (!isOfUpdate(begun))
      for (Value ref : touched)
        if (gradients.contains(bufferOf(ref)))
          needed[bufferOf(ref)] = index;
    // Follow the values computed from the norm, and other results of the same actions, such as a scale factor.
    if (llvm::none_of(touched, [&](Value ref) { return ofNorm.contains(bufferOf(ref)); }))
      continue;
    for (Value out : begun.getActionOuts()) {
      ofNorm.insert(bufferOf(out));
      waitForNorm |= !buffers.contains(bufferOf(out));
    }
  }
}

bool braid::isHeldBy(TensorOp tensor, ProgramOp program) {
  if (tensor.getSlots() && !program->hasAttr(comm::CommDialect::kCell))
    return false;
  auto names = [&](RefOp reference) { return reference.getBuffer() == tensor.getSymName(); };
  if (tensor.getCategory() == Category::Caches && llvm::none_of(program.getBody().getOps<RefOp>(), names))
    return false;
  return comm::shareRanks(comm::rankSubsetOf(tensor), comm::rankSubsetOf(program));
}

/// Returns "matmul", or "matmul h.0.attn" if the location has a name.
static std::string describe(ActionOpInterface action, ProgramOp program) {
  std::string kind = action.getActionName(), name = ContentNames(program).nameOf(action, 0);
  return name == kind ? kind : kind + " " + name;
}

static std::string peakOp(ProgramOp program, int64_t peakAction) {
  int64_t index = 0;
  for (auto action : program.getBody().front().getOps<ActionOpInterface>())
    if (index++ == peakAction)
      return describe(action, program);
  return peakAction < 0 ? "start" : "end";
}

/// Returns all categories, in the order of reports.
static auto allCategories() {
  return llvm::map_range(llvm::seq(getMaxEnumValForCategory() + 1), [](unsigned value) { return Category(value); });
}

/// Returns the peak of live bytes of `tensors`, of one category or of all.
static LiveBound boundOf(ArrayRef<PlanTensor> tensors, std::optional<Category> category, int64_t alignment) {
  PlacementProblem problem;
  problem.alignment = alignment;
  for (const PlanTensor &tensor : tensors)
    if (!category || tensor.category == *category)
      problem.buffers.push_back({tensor.bytes, tensor.first, tensor.last, {}});
  return liveBound(problem);
}

static void addAtPeak(ProgramPlan &plan, int64_t alignment) {
  for (Category category : allCategories()) {
    int64_t bytes = 0;
    for (const PlanTensor *tensor : plan.liveAtPeak())
      if (tensor->category == category)
        bytes += llvm::alignTo(tensor->bytes, alignment);
    plan.atPeak.push_back({category, bytes});
  }
}

static void addWaitingGradients(ProgramPlan &plan, ProgramOp program, int64_t alignment) {
  WaitingGradients waiting(program);
  std::vector<PlanTensor> early = plan.tensors;
  for (PlanTensor &tensor : early)
    if (auto needed = waiting.needed.find(tensor.symbol); !tensor.persistent && needed != waiting.needed.end())
      tensor.last = std::min(tensor.last, needed->second);
  plan.waitingGradientBytes = plan.lowerBoundBytes - boundOf(early, std::nullopt, alignment).bytes;
  plan.waitsForNorm = waiting.waitForNorm;
}

/// Returns the persistent tensors that the ranks of a program hold in one of the memories.
static std::vector<PlanTensor> persistentTensors(ModuleOp module, ProgramOp program, bool onHost, int64_t numActions) {
  std::vector<PlanTensor> tensors;
  llvm::SetVector<StringAttr> slots;
  for (auto tensor : module.getOps<TensorOp>())
    if (tensor.getSlots() && !onHost && isHeldBy(tensor, program))
      slots.insert(tensor.getSlotsAttr().getAttr());
    else if (!tensor.getSlots() && tensor.getHost() == onHost && isHeldBy(tensor, program))
      tensors.push_back({tensor.getSymName().str(), tensor.getCategory(), static_cast<int64_t>(tensor.getBytes()),
                         static_cast<int64_t>(tensor.getOffset()), -1, numActions, true});
  for (auto op : module.getOps<SlotsOp>())
    if (slots.contains(op.getSymNameAttr()))
      tensors.push_back({op.getSymName().str() + " x " + std::to_string(op.getCount()), Category::Activations,
                         static_cast<int64_t>(op.getCount() * *op.getBytes()), static_cast<int64_t>(*op.getOffset()),
                         -1, numActions, true});
  return tensors;
}

static int64_t endOf(ArrayRef<PlanTensor> tensors) {
  int64_t end = 0;
  for (const PlanTensor &tensor : tensors)
    end = std::max(end, tensor.offset + tensor.bytes);
  return end;
}

static ProgramPlan readProgram(ModuleOp module, ProgramOp program, int64_t alignment) {
  ProgramPlan plan;
  plan.name = program.getSymName().str();
  plan.arenaBytes = program.getArenaBytes();
  Block &body = program.getBody().front();
  plan.numActions = llvm::range_size(body.getOps<ActionOpInterface>());
  plan.tensors = persistentTensors(module, program, /*onHost=*/false, plan.numActions);
  size_t persistent = plan.tensors.size();
  for (auto buffer : body.getOps<BufferOp>()) {
    std::vector<PlanTensor> &tensors = buffer.getHost() ? plan.onHost : plan.tensors;
    tensors.push_back({buffer.getName().str(), buffer.getCategory(), static_cast<int64_t>(buffer.getBytes()),
                       static_cast<int64_t>(buffer.getOffset()), static_cast<int64_t>(buffer.getFirst()),
                       static_cast<int64_t>(buffer.getLast()), false,
                       static_cast<int64_t>(buffer.getPadding().value_or(0)), buffer.getSymName().str()});
  }
  std::stable_sort(plan.tensors.begin() + persistent, plan.tensors.end(),
                   [](const PlanTensor &a, const PlanTensor &b) { return a.first < b.first; });
  LiveBound bound = boundOf(plan.tensors, std::nullopt, alignment);
  plan.lowerBoundBytes = bound.bytes;
  plan.peakAction = bound.bytes == 0 ? -1 : bound.time;
  plan.peakOp = peakOp(program, plan.peakAction);
  for (const PlanTensor *tensor : plan.liveAtPeak())
    plan.paddingBytes += tensor->paddingBytes;
  for (Category category : allCategories())
    plan.byCategory.push_back({category, boundOf(plan.tensors, category, alignment).bytes});
  addAtPeak(plan, alignment);
  addWaitingGradients(plan, program, alignment);
  return plan;
}

/// Returns the bytes of a rank's part without any padding. Not an integer if the ranks' parts are not equal.
static double unpaddedBytes(TensorOp tensor) {
  auto sharding = tensor->getAttrOfType<comm::ShardingAttr>(comm::CommDialect::kSharding);
  auto whole = tensor->getAttrOfType<TypeAttr>(comm::CommDialect::kGlobal);
  if (!sharding || !whole)
    return tensor.getBytes();
  std::optional<comm::Mesh> mesh = comm::Mesh::lookup(tensor, sharding.getMesh());
  auto unsharded = comm::localDimsType(cast<RankedTensorType>(whole.getValue()), sharding, *mesh);
  return double(unsharded.getNumElements()) * unsharded.getElementTypeBitWidth() / 8 / mesh->sizeOf(sharding.getFlat());
}

static std::vector<PersistentBytes> persistentBytes(ModuleOp module, ProgramOp program, int64_t alignment) {
  std::vector<PersistentBytes> found;
  for (Category category : allCategories()) {
    int64_t bytes = 0;
    double unpadded = 0;
    for (auto tensor : module.getOps<TensorOp>())
      if (tensor.getCategory() == category && !tensor.getHost() && !tensor.getSlots() && isHeldBy(tensor, program)) {
        bytes += llvm::alignTo(tensor.getBytes(), alignment);
        unpadded += unpaddedBytes(tensor);
      }
    if (bytes > 0)
      found.push_back({category, bytes, bytes - std::llround(unpadded)});
  }
  return found;
}

std::vector<const PlanTensor *> ProgramPlan::liveAtPeak() const {
  std::vector<const PlanTensor *> live;
  for (const PlanTensor &tensor : tensors)
    if (tensor.first <= peakAction && peakAction <= tensor.last)
      live.push_back(&tensor);
  llvm::stable_sort(live, [](const PlanTensor *a, const PlanTensor *b) { return a->bytes > b->bytes; });
  return live;
}

const ProgramPlan &MemoryPlan::largest() const {
  return *std::max_element(programs.begin(), programs.end(),
                           [](const ProgramPlan &a, const ProgramPlan &b) { return a.arenaBytes < b.arenaBytes; });
}

/// Returns the end of a program's memory on the host.
static int64_t hostBytesOf(ModuleOp module, ProgramOp program) {
  return std::max(endOf(persistentTensors(module, program, /*onHost=*/true, 0)), program.getHostBytes());
}

static std::vector<KindPlan> readKinds(ModuleOp module, int64_t alignment) {
  llvm::MapVector<Attribute, KindPlan> kinds;
  for (auto program : module.getOps<ProgramOp>()) {
    comm::ProgramAttr ranks = comm::rankSubsetOf(program);
    if (!ranks)
      continue;
    KindPlan &kind = kinds[ranks];
    if (kind.axis.empty())
      kind = {ranks.getAxis().str(), ranks.getCoordinates().vec(), 0, 0, persistentBytes(module, program, alignment)};
    kind.hostBytes = std::max(kind.hostBytes, hostBytesOf(module, program));
    kind.arenaBytes = std::max<int64_t>(kind.arenaBytes, program.getArenaBytes());
  }
  std::vector<KindPlan> found;
  for (auto &[ranks, kind] : kinds)
    found.push_back(std::move(kind));
  return found;
}

MemoryPlan braid::readPlan(ModuleOp module, int64_t alignment) {
  MemoryPlan plan;
  for (auto program : module.getOps<ProgramOp>()) {
    plan.programs.push_back(readProgram(module, program, alignment));
    plan.arenaBytes = std::max(plan.arenaBytes, plan.programs.back().arenaBytes);
  }
  if (!plan.programs.empty()) {
    auto largest = module.lookupSymbol<ProgramOp>(plan.largest().name);
    plan.persistent = persistentBytes(module, largest, alignment);
    plan.onHost = persistentTensors(module, largest, /*onHost=*/true, plan.largest().numActions);
    for (auto program : module.getOps<ProgramOp>())
      if (comm::rankSubsetOf(program) == comm::rankSubsetOf(largest))
        plan.hostBytes = std::max(plan.hostBytes, hostBytesOf(module, program));
  }
  plan.kinds = readKinds(module, alignment);
  return plan;
}
