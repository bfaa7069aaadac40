//===- Traffic.cpp - communication of a module in memory form -------------===//

#include "compiler/Report/Traffic.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/TensorNames.h"
#include "dialects/Comm/Timing.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

const ProgramTraffic *Traffic::program(StringRef name) const {
  auto found = llvm::find_if(programs, [&](const ProgramTraffic &program) { return program.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Returns the parameters or states whose tensors the collective sends, if known. Else returns the persistent tensors
/// that it reads and writes, or the names of the values that it reads.
static std::vector<std::string> tensorNames(CollectiveOpInterface op, SymbolTable &symbols, SymbolTable &buffers) {
  if (SmallVector<StringRef> names = tensorNamesOf(op); !names.empty())
    return {names.begin(), names.end()};
  llvm::SetVector<StringRef> persistent, transient;
  for (Value operand : op->getOperands()) {
    auto ref = operand.getDefiningOp<exec::RefOp>();
    if (!ref)
      continue;
    if (auto tensor = symbols.lookup<exec::TensorOp>(ref.getBuffer()))
      persistent.insert(tensor.getSymName());
    else if (auto buffer = buffers.lookup<exec::BufferOp>(ref.getBuffer());
             buffer && llvm::is_contained(op.getSent(), operand))
      transient.insert(buffer.getName());
  }
  const auto &names = persistent.empty() ? transient : persistent;
  return {names.begin(), names.end()};
}

static CollectiveTraffic readCollective(CollectiveOpInterface op, const Mesh &mesh) {
  CollectiveTraffic traffic{};
  traffic.op = op->getName().stripDialect().str();
  if (std::optional<Reduction> reduction = op.getReductionKind())
    traffic.reduction = stringifyReduction(*reduction).str();
  for (StringAttr axis : op.getAxes().getNames())
    traffic.axes.push_back(axis.str());
  traffic.ranks = mesh.sizeOf(op.getAxes());
  SmallVector<RankedTensorType> sent = sentTypes(op), received = receivedTypes(op);
  traffic.hasOnlyScalars = true;
  for (RankedTensorType type : llvm::concat<RankedTensorType>(sent, received)) {
    traffic.hasOnlyScalars &= type.getRank() == 0;
    llvm::raw_string_ostream(traffic.dtype = "") << type.getElementType();
  }
  traffic.bytes = wholeBytes(op);
  traffic.movedBytes = op.getBytesSent(traffic.ranks);
  if (auto unit = op->getAttrOfType<StringAttr>(CommDialect::kUnit))
    traffic.unit = unit.str();
  return traffic;
}

namespace {
class ProgramReader {
public:
  ProgramReader(exec::ProgramOp program, SymbolTable &symbols, const Mesh &mesh)
      : program(program), symbols(symbols), buffers(program), mesh(mesh) {}
  ProgramTraffic read();

private:
  void add(CollectiveOpInterface op, Operation *action, int64_t start, int64_t wait);

  exec::ProgramOp program;
  SymbolTable &symbols;
  SymbolTable buffers;
  const Mesh &mesh;
  ProgramTraffic traffic;
};
} // namespace

void ProgramReader::add(CollectiveOpInterface op, Operation *action, int64_t start, int64_t wait) {
  CollectiveTraffic collective = readCollective(op, mesh);
  collective.tensors = tensorNames(op, symbols, buffers);
  collective.start = start;
  collective.wait = wait;
  if (std::optional<Timing> timing = timingOf(action)) {
    collective.predictedSeconds = timing->predicted;
    collective.exposedSeconds = timing->exposed;
    collective.waitsFor = timing->waitsFor;
    traffic.linkSeconds += timing->predicted;
  }
  traffic.movedBytes += collective.movedBytes;
  traffic.collectives.push_back(std::move(collective));
}

ProgramTraffic ProgramReader::read() {
  traffic.name = program.getSymName().str();
  if (std::optional<Timing> timing = timingOf(program)) {
    traffic.predictedSeconds = timing->predicted;
    traffic.exposedSeconds = timing->exposed;
  }
  llvm::DenseMap<Operation *, int64_t> numbers;
  SmallVector<exec::ActionOpInterface> actions(program.getBody().front().getOps<exec::ActionOpInterface>());
  for (auto [number, action] : llvm::enumerate(actions))
    numbers[action] = number;
  for (auto [number, action] : llvm::enumerate(actions)) {
    if (auto start = dyn_cast<StartOp>(action.getOperation()); start && start.getCollective())
      add(start.getCollective(), start, number, numbers.lookup(action.getActionEnd()));
    else if (auto collective = dyn_cast<CollectiveOpInterface>(action.getOperation()))
      add(collective, collective, number, number);
  }
  return std::move(traffic);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the bytes moved by reductions of tensors. These are gradients, because a training program otherwise reduces
/// only scalars.
static int64_t reducedBytes(const ProgramTraffic *program) {
  int64_t bytes = 0;
  if (program)
    for (const CollectiveTraffic &collective : program->collectives)
      if (!collective.reduction.empty() && !collective.hasOnlyScalars)
        bytes += collective.movedBytes;
  return bytes;
}

/// Returns none if gradients are not accumulated, or if no sharding exists that they could use.
static std::optional<AccumulatorTraffic> readAccumulators(ModuleOp module, const Mesh &mesh, const Traffic &traffic) {
  AccumulatorTraffic found{};
  for (auto tensor : module.getOps<exec::TensorOp>()) {
    auto sharding = tensor->getAttrOfType<ShardingAttr>(CommDialect::kSharding);
    auto whole = tensor->getAttrOfType<TypeAttr>(CommDialect::kGlobal);
    if (tensor.getCategory() != exec::Category::Gradients || !sharding || !whole)
      continue;
    auto type = cast<RankedTensorType>(whole.getValue());
    auto axes = sharding.isFlat() ? sharding.getFlat() : sharding.getPartial();
    int64_t unsharded = bytesOf(localDimsType(type, sharding, mesh));
    found.areSharded |= sharding.isFlat();
    found.heldBytes += tensor.getBytes();
    found.otherHeldBytes += sharding.isFlat() ? unsharded : llvm::divideCeil(unsharded, mesh.sizeOf(axes));
  }
  int64_t extraBytes =
      (traffic.microbatches - 1) * reducedBytes(traffic.program(found.areSharded ? "accumulate" : "train"));
  if (found.heldBytes == 0 || extraBytes == 0)
    return std::nullopt;
  found.movedBytes = traffic.movedBytes;
  found.otherMovedBytes = traffic.movedBytes + (found.areSharded ? -extraBytes : extraBytes);
  return found;
}

static void addStep(Traffic &traffic) {
  auto add = [&](StringRef name, int64_t times) {
    const ProgramTraffic *program = traffic.program(name);
    if (!program || times == 0)
      return;
    traffic.movedBytes += times * program->movedBytes;
    traffic.linkSeconds += times * program->linkSeconds;
    if (!program->predictedSeconds)
      return;
    traffic.predictedSeconds = traffic.predictedSeconds.value_or(0) + times * *program->predictedSeconds;
    traffic.exposedSeconds = traffic.exposedSeconds.value_or(0) + times * *program->exposedSeconds;
  };
  add("accumulate", traffic.microbatches - 1);
  add("train", 1);
}

Traffic braid::readTraffic(ModuleOp module, int64_t microbatches) {
  Traffic traffic;
  traffic.microbatches = microbatches;
  auto meshes = llvm::to_vector(module.getOps<MeshOp>());
  if (meshes.size() != 1)
    return traffic;
  Mesh mesh(meshes.front());
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    traffic.mesh.push_back({name.str(), size});
  traffic.ranks = mesh.getNumRanks();
  SymbolTable symbols(module);
  for (auto program : module.getOps<exec::ProgramOp>())
    traffic.programs.push_back(ProgramReader(program, symbols, mesh).read());
  addStep(traffic);
  traffic.accumulators = readAccumulators(module, mesh, traffic);
  return traffic;
}
