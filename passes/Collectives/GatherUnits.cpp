//===- GatherUnits.cpp - gather sharded parameters before their use -------===//
//
// A unit is gathered right before its first use in forward and, unless it is kept, again before its first use
// in backward. No op frees it: its live range ends at its last use, and the memory planner reuses the memory.
//
// Values that depend only on a unit's parameters (a cast, a transpose, a bias repeated for each row) are
// computed again after each gather. Otherwise they would hold the freed memory from forward to backward.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Base/Signature.h"
#define GEN_PASS_DEF_GATHERUNITSPASS
#include "passes/Collectives/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
/// The two phases that use a unit.
enum Phase { Forward, Backward };
constexpr unsigned kNumPhases = 2;

/// A value that depends only on parameters of one unit.
struct ParameterValue {
  StringAttr unit;    ///< Empty for the root unit.
  unsigned argument;  ///< Index of the first parameter.
  unsigned depth = 0; ///< Number of gathers before it; 0 for a shard.
};

/// An operand that depends only on parameters, of an op that does not.
struct Use {
  OpOperand *operand;
  Operation *user; ///< Op in the program's block.
  unsigned position;
};

struct Unit {
  StringAttr name;
  SmallVector<Use> uses[kNumPhases]; ///< Uses in block order.
  bool isKept = false;               ///< Whether one gather serves both phases.
  int64_t bytesGathered[kNumPhases] = {0, 0}, bytesSent[kNumPhases] = {0, 0};

  bool isRoot() const { return name.empty(); }
  unsigned first(Phase phase) const { return uses[phase].front().position; }
  unsigned last(Phase phase) const { return uses[phase].back().position; }
};

class UnitGathers {
public:
  UnitGathers(func::FuncOp program, const Mesh &mesh) : program(program), mesh(mesh) {}

  LogicalResult run(bool dropsAfterForward) {
    findParameterValues();
    if (failed(findUses()))
      return failure();
    chooseKept(dropsAfterForward);
    rewrite();
    erase();
    if (isTraining(program))
      for (const auto &[name, unit] : units)
        say(unit, dropsAfterForward);
    return success();
  }

private:
  void findParameterValues();
  std::optional<ParameterValue> parameterValueOf(ValueRange operands) const;
  LogicalResult findUses();
  void chooseKept(bool dropsAfterForward);
  void rewrite();
  SmallVector<Value> gatheredAt(const Unit &unit, Phase phase, Phase ofUse) const;
  void gather(Unit &unit, Phase phase, Phase ofUse, Operation *before);
  bool isMadeBefore(Value value, tg::Phase phase) const;
  Location locationOf(const Unit &unit, ArrayRef<OpResult> gathered, Operation *before) const;
  void needs(Value value, SetVector<Value> &gathered) const;
  Value make(Value value, Phase phase, OpBuilder &builder);
  void erase();
  void say(const Unit &unit, bool dropsAfterForward);

  bool isBehindGather(Value value) const {
    auto found = made.find(value);
    return found != made.end() && found->second.depth > 0;
  }

  func::FuncOp program;
  Mesh mesh;
  DenseMap<Value, ParameterValue> made;
  /// Units in the order of their first uses.
  llvm::MapVector<StringAttr, Unit> units;
  /// The replacement, in each phase, of a value behind a gather.
  DenseMap<Value, Value> remade[kNumPhases];
};
} // namespace

//===----------------------------------------------------------------------===//
// Values computed from parameters
//===----------------------------------------------------------------------===//

/// Merges the descriptions of operands, if only constants and parameters of one unit determine them.
std::optional<ParameterValue> UnitGathers::parameterValueOf(ValueRange operands) const {
  std::optional<ParameterValue> all;
  for (Value operand : operands) {
    Operation *op = operand.getDefiningOp();
    if (op && op->getNumOperands() == 0)
      continue;
    auto found = made.find(operand);
    if (found == made.end() || (all && all->unit != found->second.unit))
      return std::nullopt;
    ParameterValue one = found->second;
    all = all ? ParameterValue{one.unit, std::min(all->argument, one.argument), std::max(all->depth, one.depth)} : one;
  }
  return all;
}

void UnitGathers::findParameterValues() {
  StringAttr root = StringAttr::get(program.getContext(), "");
  for (BlockArgument argument : program.getArguments())
    if (tg::ParamAttr parameter = parameterOf(argument))
      made[argument] = {parameter.getUnit() ? parameter.getUnit() : root, argument.getArgNumber()};
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (auto gather = dyn_cast<AllGatherOp>(op)) {
      for (auto [part, whole] : llvm::zip_equal(gather.getIns(), gather.getResults()))
        if (std::optional<ParameterValue> one = parameterValueOf(part)) {
          ++one->depth;
          made[whole] = *one;
        }
    } else if (!isa<CollectiveOpInterface>(op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op)) {
      if (std::optional<ParameterValue> all = parameterValueOf(op.getOperands()))
        for (Value result : op.getResults())
          made[result] = *all;
    }
  }
}

LogicalResult UnitGathers::findUses() {
  bool isTrained = isTraining(program);
  Block &block = program.getBody().front();
  // Operands in block order; an op in a region counts as its ancestor in the block.
  unsigned position = 0;
  for (Operation &user : block) {
    ++position;
    if (llvm::any_of(user.getResults(), [&](Value result) { return isBehindGather(result); }))
      continue;
    bool isReturn = user.hasTrait<OpTrait::IsTerminator>(), isRead = false;
    Phase phase = isTrained && tg::phaseOf(&user) != tg::Phase::Forward ? Backward : Forward;
    user.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isBehindGather(operand.get())) {
          StringAttr name = made[operand.get()].unit;
          Unit &unit = units[name];
          unit.name = name;
          unit.uses[phase].push_back({&operand, &user, position});
          isRead = true;
        }
    });
    if (isRead && isTrained && !isReturn && failed(tg::requireFacts(&user)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Choice of kept units
//===----------------------------------------------------------------------===//

/// Keeps a unit if no other unit is gathered between its forward and its backward use: the root, the last unit,
/// and a unit that is also used after the last one. Units are visited in backward order, so that the units in
/// between are decided first.
void UnitGathers::chooseKept(bool dropsAfterForward) {
  SmallVector<Unit *> inBackward;
  std::set<unsigned> gathers;
  for (auto &[name, unit] : units) {
    bool isOnce = unit.uses[Forward].empty() || unit.uses[Backward].empty();
    unit.isKept = isOnce || unit.isRoot() || !dropsAfterForward;
    if (!unit.isKept)
      inBackward.push_back(&unit);
    if (!unit.isRoot())
      gathers.insert(unit.first(unit.uses[Forward].empty() ? Backward : Forward));
  }
  llvm::stable_sort(inBackward, [](Unit *a, Unit *b) { return a->first(Backward) < b->first(Backward); });
  for (Unit *unit : inBackward) {
    auto next = gathers.upper_bound(unit->last(Forward));
    unit->isKept = next == gathers.end() || *next >= unit->first(Backward);
    if (!unit->isKept)
      gathers.insert(unit->first(Backward));
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Collects the gathers that a value depends on.
void UnitGathers::needs(Value value, SetVector<Value> &gathered) const {
  if (!isBehindGather(value))
    return;
  Operation *op = value.getDefiningOp();
  auto gather = dyn_cast<AllGatherOp>(op);
  if (gather && !gathered.insert(value))
    return;
  if (gather)
    return needs(gather.getIns()[cast<OpResult>(value).getResultNumber()], gathered);
  for (Value operand : op->getOperands())
    needs(operand, gathered);
}

/// Returns the value to use at the builder's position: `value` itself if it is available, else a clone of its
/// definition.
Value UnitGathers::make(Value value, Phase phase, OpBuilder &builder) {
  if (Value copy = remade[phase].lookup(value))
    return copy;
  Operation *op = value.getDefiningOp();
  if (!op || (!isBehindGather(value) && op->isBeforeInBlock(&*builder.getInsertionPoint())))
    return value;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, make(operand, phase, builder));
  Operation *copy = builder.clone(*op, operands);
  if (phase == Backward && op->getNumOperands() != 0)
    copy->setLoc(
        tg::withPhase(copy->getLoc(), tg::phaseOf(&*builder.getInsertionPoint()).value_or(tg::Phase::Backward)));
  for (auto [old, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
    remade[phase][old] = result;
  return remade[phase][value];
}

/// A gather gets the phase of the op that it serves.
Location UnitGathers::locationOf(const Unit &unit, ArrayRef<OpResult> gathered, Operation *before) const {
  tg::Phase phase = tg::phaseOf(before).value_or(isTraining(program) ? tg::Phase::Update : tg::Phase::Forward);
  auto ofEach = llvm::map_to_vector(gathered, [&](OpResult whole) {
    tg::ParamAttr parameter = parameterOf(func::FuncOp(program).getArgument(made.at(whole).argument));
    return factsOfParameter(parameter, phase);
  });
  return tg::withFacts(unit.isRoot() ? program->getLoc() : Location(NameLoc::get(unit.name)), ofEach);
}

/// Whether all ops that compute a value from parameters, with or without gathers, belong to an earlier phase.
bool UnitGathers::isMadeBefore(Value value, tg::Phase phase) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0)
    return true;
  bool isLater = !isa<AllGatherOp>(op) && tg::phaseOf(op).value_or(tg::Phase::Forward) >= phase;
  return !isLater && llvm::all_of(op->getOperands(), [&](Value operand) { return isMadeBefore(operand, phase); });
}

/// Returns the values to gather at the first use of a unit in phase `ofUse`. A kept unit is gathered at once
/// for both phases, except values that only backward computes from its parameters.
SmallVector<Value> UnitGathers::gatheredAt(const Unit &unit, Phase phase, Phase ofUse) const {
  SetVector<Value> needed, ofBackward;
  for (const Use &use : unit.uses[ofUse])
    needs(use.operand->get(), needed);
  if (unit.isKept && ofUse == Forward)
    for (const Use &use : unit.uses[Backward])
      needs(use.operand->get(), ofBackward);
  for (Value whole : ofBackward)
    if (!isTraining(program) || isMadeBefore(whole, tg::Phase::Backward))
      needed.insert(whole);
  SmallVector<Value> wholes = needed.takeVector();
  llvm::erase_if(wholes, [&](Value whole) { return remade[phase].contains(whole); });
  auto key = [&](Value whole) { return std::pair(made.at(whole).depth, made.at(whole).argument); };
  llvm::stable_sort(wholes, [&](Value a, Value b) { return key(a) < key(b); });
  return wholes;
}

/// Merges the gathers of a unit with the same axes and element type into one collective. A gather of a gathered
/// value comes after the first.
void UnitGathers::gather(Unit &unit, Phase phase, Phase ofUse, Operation *before) {
  SmallVector<Value> wholes = gatheredAt(unit, phase, ofUse);
  llvm::MapVector<std::tuple<unsigned, AxesAttr, Type>, SmallVector<OpResult>> groups;
  for (Value whole : wholes) {
    auto op = cast<AllGatherOp>(whole.getDefiningOp());
    Type element = cast<RankedTensorType>(whole.getType()).getElementType();
    groups[{made[whole].depth, op.getAxes(), element}].push_back(cast<OpResult>(whole));
  }
  OpBuilder builder(before);
  for (auto &[group, members] : groups) {
    AxesAttr axes = std::get<AxesAttr>(group);
    FlatSymbolRefAttr symbol = cast<AllGatherOp>(members.front().getOwner()).getMeshAttr();
    SmallVector<Value> parts;
    SmallVector<int64_t> dims;
    SmallVector<Type> types;
    for (OpResult member : members) {
      auto op = cast<AllGatherOp>(member.getOwner());
      parts.push_back(make(op.getIns()[member.getResultNumber()], phase, builder));
      dims.push_back(op.getDims()[member.getResultNumber()]);
      types.push_back(member.getType());
    }
    auto merged = builder.create<AllGatherOp>(locationOf(unit, members, before), parts, dims, symbol, axes, types);
    merged->setAttr(CommDialect::kUnit, unit.name);
    for (auto [member, result] : llvm::zip_equal(members, merged.getResults())) {
      remade[phase][member] = result;
      auto type = cast<RankedTensorType>(result.getType());
      unit.bytesGathered[phase] += llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(), 8);
    }
    unit.bytesSent[phase] += merged.getBytesSent(mesh.sizeOf(axes));
  }
}

void UnitGathers::rewrite() {
  struct Step {
    Unit *unit;
    Phase phase;
    Use use;
  };
  SmallVector<Step> steps;
  for (auto &[name, unit] : units)
    for (Phase phase : {Forward, Backward})
      for (const Use &use : unit.uses[phase])
        steps.push_back({&unit, phase, use});
  llvm::stable_sort(steps, [](const Step &a, const Step &b) { return a.use.position < b.use.position; });
  DenseSet<std::pair<Unit *, unsigned>> begun;
  for (Step &step : steps) {
    Unit &unit = *step.unit;
    // A kept unit has one phase, that of its first use.
    Phase phase = unit.isKept ? (unit.uses[Forward].empty() ? Backward : Forward) : step.phase;
    if (begun.insert({&unit, step.phase}).second)
      gather(unit, phase, step.phase, step.use.user);
    OpBuilder builder(step.use.user);
    step.use.operand->set(make(step.use.operand->get(), phase, builder));
  }
}

/// Erases the originals of remade values.
void UnitGathers::erase() {
  DenseSet<Value> fresh;
  for (const auto &values : remade)
    for (auto [old, value] : values)
      fresh.insert(value);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (op.use_empty() && op.getNumResults() != 0 && isBehindGather(op.getResult(0)) &&
        !fresh.contains(op.getResult(0)))
      op.erase();
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

void UnitGathers::say(const Unit &unit, bool dropsAfterForward) {
  InFlightDiagnostic remark = emitRemark(program.getLoc()) << "@" << program.getName() << ": ";
  if (unit.isRoot())
    remark << "the root unit";
  else
    remark << "unit " << unit.name;
  int64_t gathered = unit.bytesGathered[Forward], sent = unit.bytesSent[Forward];
  if (!unit.isKept) {
    remark << " is gathered for forward (" << gathered << " bytes) and again for backward ("
           << unit.bytesGathered[Backward] << " bytes); keeping it would hold its bytes in between and send "
           << unit.bytesSent[Backward] << " bytes less";
    return;
  }
  remark << " is gathered once (" << gathered + unit.bytesGathered[Backward] << " bytes, "
         << sent + unit.bytesSent[Backward] << " sent)";
  if (!unit.uses[Forward].empty() && !unit.uses[Backward].empty())
    remark << " and kept from forward to backward"
           << (dropsAfterForward ? "" : ", because units are not dropped after forward");
}

namespace {
struct GatherUnits final : braid::impl::GatherUnitsPassBase<GatherUnits> {
  using GatherUnitsPassBase::GatherUnitsPassBase;

  void runOnOperation() final {
    func::FuncOp program = getOperation();
    auto ranks = program->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (program.isExternal() || !ranks)
      return markAllAnalysesPreserved();
    FailureOr<Mesh> mesh = Mesh::require(program, ranks.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    if (failed(UnitGathers(program, *mesh).run(reshardAfterForward)))
      signalPassFailure();
  }
};
} // namespace
