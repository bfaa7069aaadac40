//===- BucketProgram.cpp - dependences and kinds of collectives -----------===//

#include "passes/Collectives/BucketProgram.h"
#include "dialects/Comm/MovedValues.h"
#include "dialects/Comm/TensorNames.h"
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Actions/ActionGraph.h"
#include "passes/Base/Signature.h"
#include "passes/Collectives/CollectiveRoles.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static llvm::Error refuse(StringRef option, StringRef text, StringRef expected) {
  return llvm::createStringError("comm-bucket: " + option + " must be " + expected + ", found '" + text + "'");
}

static bool parseNumber(StringRef text, double &number) {
  return !text.empty() && !text.getAsDouble(number) && std::isfinite(number) && number >= 0;
}

llvm::Expected<BucketSize> BucketSize::parse(StringRef option, StringRef text, bool mayBeAuto) {
  double mebibytes;
  if (text == "inf")
    return BucketSize{false, BucketProblem::kUnlimited};
  if (text == "auto" && mayBeAuto)
    return BucketSize{true, 0};
  if (!parseNumber(text, mebibytes) || mebibytes > 0x1p40)
    return refuse(option, text,
                  mayBeAuto ? "a number of MiB (0 for one tensor each), inf or auto"
                            : "a number of MiB (0 for one tensor) or inf");
  return BucketSize{false, int64_t(mebibytes * 0x1p20)};
}

/// Returns the bytes of whole tensors at which latency is a twentieth of the time of their collective. Each
/// rank sends `sentPerByte` bytes per byte of a tensor.
static int64_t worthwhileBytes(const LinkRates &link, CollectiveOpInterface op, int64_t ranks, double sentPerByte) {
  constexpr double latencyShare = 1.0 / 20;
  if (sentPerByte <= 0)
    return BucketProblem::kUnlimited; // nothing leaves the rank
  double latency = op.getRow().messages(ranks) * link.latencySeconds;
  double bytes = (1 / latencyShare - 1) * latency * link.bytesPerSecond / sentPerByte;
  return bytes < 0x1p62 ? int64_t(bytes) : BucketProblem::kUnlimited;
}

NamedAttrList braid::sharedAttributes(CollectiveOpInterface op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("operandSegmentSizes");
  attributes.erase("dims");
  attributes.erase(kTensors);
  attributes.erase(kMoved);
  return attributes;
}

namespace {

/// The properties that two collectives must share to be in one bucket.
using BucketKey = std::tuple<StringAttr, Attribute, Type, CollectiveRole>;

class Reader {
public:
  Reader(func::FuncOp function, const Mesh &mesh, const Machine &machine, const BucketSettings &settings)
      : function(function), mesh(mesh), machine(machine), settings(settings), owners(function) {}
  BucketProgram read();

private:
  void readNeeds();
  void readItems();
  void readCaps();
  unsigned kindOf(CollectiveOpInterface op, CollectiveRole role);
  unsigned unitOf(BlockArgument argument);

  func::FuncOp function;
  const Mesh &mesh;
  const Machine &machine;
  const BucketSettings &settings;
  TensorOwners owners;
  BucketProgram program;
  llvm::MapVector<BucketKey, unsigned> kinds;
  llvm::MapVector<Attribute, unsigned> units;
};

} // namespace

void Reader::readNeeds() {
  ActionGraph graph(function.front(), ActionRules::forTensors());
  graph.addUpdates(function);
  program.actions = llvm::to_vector(graph.actions());
  for (unsigned action = 0; action < graph.size(); ++action)
    program.problem.dependences.emplace_back(graph.predecessors(action));
}

unsigned Reader::kindOf(CollectiveOpInterface op, CollectiveRole role) {
  BucketKey likeness{op->getName().getIdentifier(), sharedAttributes(op).getDictionary(op->getContext()),
                     sentTypes(op).front().getElementType(), role};
  auto [entry, isNew] = kinds.try_emplace(likeness, kinds.size());
  if (isNew)
    program.problem.kinds.emplace_back();
  return entry->second;
}

/// Returns the number of the argument's unit, or 0 where units do not matter.
unsigned Reader::unitOf(BlockArgument argument) {
  if (!argument || settings.perUnit == BucketPerUnit::False)
    return 0;
  unsigned index = argument.getArgNumber();
  auto parameter = parameterOf(argument);
  auto sharding = function.getArgAttrOfType<ShardingAttr>(index, CommDialect::kSharding);
  if (!parameter || (settings.perUnit == BucketPerUnit::Auto && !(sharding && sharding.isFlat())))
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
    // Gradients and new parameters are read only at the end of a step, so they may be delayed. The computation
    // may need other state and scalars earlier.
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
    // Scalars are not bucketed by size: one costs the latency of one message.
    if (std::get<CollectiveRole>(likeness) == CollectiveRole::Scalar)
      continue;
    BucketProblem::Kind &limits = program.problem.kinds[kind];
    if (settings.size.isAuto) {
      double sentPerByte = double(sent[kind]) / std::max<int64_t>(whole[kind], 1);
      AxesAttr axes = one[kind].getAxes();
      limits.enough = worthwhileBytes(machine.slowestLink(axes, mesh), one[kind], mesh.sizeOf(axes), sentPerByte);
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

BucketProgram braid::readBucketProgram(func::FuncOp function, const Mesh &mesh, const Machine &machine,
                                       const BucketSettings &settings) {
  return Reader(function, mesh, machine, settings).read();
}
