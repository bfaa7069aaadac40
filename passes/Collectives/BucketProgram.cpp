//===- BucketProgram.cpp - what needs what, and what is alike -------------===//

#include "passes/Collectives/BucketProgram.h"
#include "dialects/Comm/MovedValues.h"
#include "dialects/Comm/TensorNames.h"
#include "passes/Graph/Signature.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

NamedAttrList braid::sharedAttributes(CollectiveOpInterface op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("operandSegmentSizes");
  attributes.erase("dims");
  attributes.erase(kTensors);
  attributes.erase(kMoved);
  return attributes;
}

namespace {

/// What two collectives must agree on to be one.
using Likeness = std::tuple<StringAttr, Attribute, Type, CollectiveRole>;

class Reader {
public:
  Reader(func::FuncOp function, const Mesh &mesh, const BucketSettings &settings)
      : function(function), mesh(mesh), settings(settings), owners(function) {}
  BucketProgram read();

private:
  void readNeeds();
  void readItems();
  void readCaps();
  unsigned kindOf(CollectiveOpInterface op, CollectiveRole role);
  unsigned unitOf(BlockArgument argument);

  func::FuncOp function;
  const Mesh &mesh;
  const BucketSettings &settings;
  TensorOwners owners;
  BucketProgram program;
  llvm::MapVector<Likeness, unsigned> kinds;
  llvm::MapVector<Attribute, unsigned> units;
};

} // namespace

/// Reads the dependences between actions.  All readers of an argument come before the
/// action that overwrites it with its new value.  Ops with effects keep their order.
void Reader::readNeeds() {
  DenseMap<Operation *, unsigned> number;
  for (Operation &op : function.front().without_terminator()) {
    number[&op] = program.actions.size();
    program.actions.push_back(&op);
  }
  std::vector<llvm::SmallSetVector<unsigned, 4>> needs(program.actions.size());
  auto add = [&](unsigned action, Operation *before) {
    Operation *outer = before ? function.front().findAncestorOpInBlock(*before) : nullptr;
    if (auto found = number.find(outer); found != number.end() && found->second < action)
      needs[action].insert(found->second);
  };
  Operation *lastWithEffect = nullptr;
  for (auto [action, op] : llvm::enumerate(program.actions)) {
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        add(action, operand.getDefiningOp());
    });
    if (isMemoryEffectFree(op))
      continue;
    add(action, lastWithEffect);
    lastWithEffect = op;
  }
  tg::ProgramSignature signature(function);
  for (OpOperand &result : returnOf(function)->getOpOperands()) {
    BlockArgument old = signature.updatedBy(result.getOperandNumber());
    auto writer = number.find(result.get().getDefiningOp());
    if (old && writer != number.end())
      for (Operation *reader : old.getUsers())
        add(writer->second, reader);
  }
  for (const auto &set : needs)
    program.problem.needs.emplace_back(set.begin(), set.end());
}

unsigned Reader::kindOf(CollectiveOpInterface op, CollectiveRole role) {
  Likeness likeness{op->getName().getIdentifier(), sharedAttributes(op).getDictionary(op->getContext()),
                    sentTypes(op).front().getElementType(), role};
  auto [entry, isNew] = kinds.try_emplace(likeness, kinds.size());
  if (isNew)
    program.problem.kinds.emplace_back();
  return entry->second;
}

/// 0 where units do not matter.
unsigned Reader::unitOf(BlockArgument argument) {
  if (!argument || settings.perUnit == BucketSettings::PerUnit::Never)
    return 0;
  unsigned index = argument.getArgNumber();
  auto parameter = parameterOf(argument);
  auto sharding = function.getArgAttrOfType<ShardingAttr>(index, CommDialect::kSharding);
  if (!parameter || (settings.perUnit == BucketSettings::PerUnit::Auto && !(sharding && sharding.isFlat())))
    return 0;
  StringAttr unit = parameter.getUnit() ? parameter.getUnit() : StringAttr::get(function.getContext());
  return units.try_emplace(unit, units.size() + 1).first->second;
}

void Reader::readItems() {
  for (auto [action, op] : llvm::enumerate(program.actions)) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    std::optional<CollectiveRole> role = collective ? roleOf(collective) : std::nullopt;
    if (!role)
      continue;
    bool isNumber = *role == CollectiveRole::Scalar;
    auto ownerOf = [&](Value result) { return isNumber ? BlockArgument() : owners.ownerOf(tg::factsOfTensor(result)); };
    BlockArgument argument = ownerOf(op->getResults().front());
    unsigned kind = kindOf(collective, *role);
    // Gradients and new parameters are read at the end of a step; other state and
    // numbers may be what computing goes on with.
    program.problem.kinds[kind].mayDelay = *role == CollectiveRole::Gradient || *role == CollectiveRole::Update;
    program.problem.items.push_back(
        {unsigned(action), kind, unitOf(argument), argument ? argument.getArgNumber() : 0, wholeBytes(collective)});
    program.arguments.push_back({argument, ownerOf(op->getResults().back())});
  }
}

void Reader::readCaps() {
  std::vector<int64_t> whole(kinds.size()), sent(kinds.size());
  std::vector<CollectiveOpInterface> one(kinds.size());
  for (auto [number, item] : llvm::enumerate(program.problem.items)) {
    CollectiveOpInterface op = program.collective(number);
    one[item.kind] = op;
    whole[item.kind] += item.bytes;
    sent[item.kind] += op.getBytesSent(mesh.sizeOf(op.getAxes()));
  }
  for (auto &[likeness, kind] : kinds) {
    // A number costs what a message costs.
    if (std::get<CollectiveRole>(likeness) == CollectiveRole::Scalar)
      continue;
    BucketProblem::Kind &limits = program.problem.kinds[kind];
    if (settings.size.isAuto) {
      double sentPerByte = double(sent[kind]) / std::max<int64_t>(whole[kind], 1);
      limits.enough = worthwhileBytes(settings.link, one[kind], mesh.sizeOf(one[kind].getAxes()), sentPerByte);
      continue;
    }
    limits.cap = settings.size.bytes;
    limits.firstCap = std::min(settings.first.bytes, limits.cap);
  }
}

BucketProgram Reader::read() {
  readNeeds();
  readItems();
  readCaps();
  return std::move(program);
}

BucketProgram braid::readBucketProgram(func::FuncOp function, const Mesh &mesh, const BucketSettings &settings) {
  return Reader(function, mesh, settings).read();
}
