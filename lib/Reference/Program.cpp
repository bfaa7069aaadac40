//===- Program.cpp - runnable programs, with inputs and results -----------===//

#include "lib/Reference/Program.h"
#include "dialects/Comm/Programs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

RankedTensorType InputSlot::logicalType() const { return layout.inFiles(type); }

std::string ResultSlot::name() const {
  if (!updates.empty())
    return "updates " + updates;
  return gradOf.empty() ? role : "grad_of " + gradOf;
}

/// Numbers the tensors that have initial values.
static void numberStreams(std::vector<InputSlot> &inputs) {
  unsigned stream = 0;
  for (InputSlot &slot : inputs)
    if (slot.kind != InputKind::Input)
      slot.stream = stream++;
}

static std::string nameOf(const InputSlot &slot) { return slot.name; }
static std::string nameOf(const ResultSlot &slot) { return slot.name(); }

/// Returns the number of a slot in the program. Functions share slots of the same name;
/// a function's own slots, `taken`, are all different.
template <typename SlotT>
static FailureOr<unsigned> share(const SlotT &slot, std::vector<SlotT> &slots, ArrayRef<unsigned> taken,
                                 Operation *op) {
  for (auto [i, other] : llvm::enumerate(slots)) {
    if (nameOf(slot).empty() || nameOf(other) != nameOf(slot) || llvm::is_contained(taken, i))
      continue;
    if (other.type != slot.type)
      return op->emitError() << "'" << nameOf(slot) << "' is " << slot.type << " here and " << other.type
                             << " in another function of the program";
    return i;
  }
  slots.push_back(slot);
  return slots.size() - 1;
}

LogicalResult Program::addMember(Operation *op, const Signature &signature) {
  Member member{op, {}, {}};
  SmallVector<unsigned> taken;
  for (const InputSlot &slot : signature.inputs) {
    FailureOr<unsigned> number = share(slot, inputs, taken, op);
    if (failed(number))
      return failure();
    taken.push_back(*number);
    member.inputs.push_back({*number, slot.sharding});
  }
  taken.clear();
  for (const ResultSlot &slot : signature.results) {
    FailureOr<unsigned> number = share(slot, results, taken, op);
    if (failed(number))
      return failure();
    taken.push_back(*number);
    member.results.push_back({*number, slot.sharding});
  }
  members.push_back(std::move(member));
  return success();
}

FailureOr<Program> Program::of(ArrayRef<Operation *> ops) {
  Program program;
  program.name = SymbolTable::getSymbolName(ops.front()).str();
  for (Operation *op : ops) {
    auto function = dyn_cast<func::FuncOp>(op);
    FailureOr<Signature> signature = function ? signatureOf(function) : signatureOf(cast<exec::ProgramOp>(op));
    if (failed(signature) || failed(program.addMember(op, *signature)))
      return failure();
  }
  ::numberStreams(program.inputs);
  for (auto pipeline : ops.front()->getParentOfType<ModuleOp>().getOps<comm::PipelineOp>())
    program.numberStreams(pipeline);
  return program;
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

/// Returns the function or program of a name, or the first one with this entry; null if there is none.
static Operation *lookup(ModuleOp module, StringRef name) {
  if (Operation *found = SymbolTable::lookupSymbolIn(module, name))
    return isa<func::FuncOp, exec::ProgramOp>(found) ? found : nullptr;
  for (Operation &op : *module.getBody())
    if (StringAttr entry = comm::entryOf(&op); entry && entry == name)
      return &op;
  return nullptr;
}

bool Program::exists(ModuleOp module, StringRef name) { return lookup(module, name) != nullptr; }

/// Returns whether a function is a cell of a pipeline, which the pipeline's table runs.
static bool isCell(Operation *op) { return op->hasAttr(comm::CommDialect::kCell); }

/// Returns the functions that form one program with `op`.
static SmallVector<Operation *> functionsOfProgram(ModuleOp module, Operation *op) {
  comm::ProgramAttr own = comm::rankSubsetOf(op);
  if (!own || isCell(op))
    return {op};
  SmallVector<Operation *> companions;
  for (Operation &other : *module.getBody())
    if (auto ranks = comm::rankSubsetOf(&other); ranks && !isCell(&other) && other.getName() == op->getName() &&
                                                 ranks.getMesh() == own.getMesh() &&
                                                 comm::entryOf(&other) == comm::entryOf(op))
      companions.push_back(&other);
  return companions;
}

/// Checks that functions that share ranks give exactly one function to each rank.
static LogicalResult checkRanks(ArrayRef<Operation *> functions) {
  comm::ProgramAttr shared = comm::rankSubsetOf(functions.front());
  if (!shared)
    return success();
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(functions.front(), shared.getMesh());
  if (failed(mesh))
    return failure();
  for (int64_t rank = 0; rank < mesh->getNumRanks(); ++rank) {
    Operation *first = nullptr;
    for (Operation *function : functions) {
      if (!mesh->runs(function->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram), rank))
        continue;
      if (first) {
        InFlightDiagnostic error = function->emitError() << "rank " << rank << " runs this function and another";
        error.attachNote(first->getLoc()) << "the other is here";
        return error;
      }
      first = function;
    }
    if (!first)
      return functions.front()->emitError() << "no function of the program is run by rank " << rank;
  }
  return success();
}

std::vector<std::string> Program::names(ModuleOp module) {
  std::vector<std::string> names;
  for (Operation &op : *module.getBody())
    if (isa<func::FuncOp, exec::ProgramOp>(op) && !isCell(&op) && functionsOfProgram(module, &op).front() == &op)
      names.push_back(SymbolTable::getSymbolName(&op).str());
  return names;
}

FailureOr<Program> Program::find(ModuleOp module, StringRef name) {
  std::vector<std::string> all = names(module);
  std::string list = llvm::join(all, "', '");
  if (all.empty())
    return module.emitError("the module has no function and no program");
  if (name.empty() && all.size() > 1)
    return module.emitError() << "the module has several functions, '" << list << "'; name one with --function";
  Operation *found = lookup(module, name.empty() ? StringRef(all[0]) : name);
  if (!found)
    return module.emitError() << "the module has no function or program '" << name << "'; it has '" << list << "'";
  if (isCell(found))
    return found->emitError() << "is a cell of a pipeline, whose table runs it: run the steps of @train";
  SmallVector<Operation *> functions = functionsOfProgram(module, found);
  if (failed(checkRanks(functions)))
    return failure();
  return of(functions);
}

bool Program::isEntry(StringRef entry) const {
  StringAttr own = comm::entryOf(op());
  return own ? own.getValue() == entry : name == entry;
}

void Program::numberStreams(comm::PipelineOp pipeline) {
  auto order = pipeline->getAttrOfType<ArrayAttr>(comm::kTensorOrder);
  for (InputSlot &slot : inputs)
    for (auto [number, known] : llvm::enumerate(order ? order.getValue() : ArrayRef<Attribute>()))
      if (cast<StringAttr>(known).getValue() == slot.name)
        slot.stream = number;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Converts a tensor from the layout of files to the program's layout, and the reverse.
static Tensor exchange(const Tensor &tensor, const tg::FileLayout &layout, ArrayRef<int64_t> shape) {
  if (layout.fused >= 0)
    return tensor.reshaped(shape);
  return layout.transposed ? tensor.transposed({1, 0}) : tensor;
}

Results Program::run(ArrayRef<Tensor> arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank) const {
  SmallVector<Tensor> held;
  for (auto [slot, tensor] : llvm::zip_equal(inputs, arguments)) {
    if (ArrayRef<int64_t>(tensor.shape) != slot.logicalType().getShape())
      return op()->emitError() << "input '" << slot.name << "' is " << slot.logicalType()
                               << " but its value has the shape " << indexText(tensor.shape);
    held.push_back(exchange(tensor, slot.layout, slot.type.getShape()));
  }
  bool manyRanks = op()->hasAttr(comm::CommDialect::kProgram);
  Results made = manyRanks ? runOnRanks(held, arithmetic, perRank) : runOnOne(held, arithmetic);
  if (failed(made))
    return failure();
  for (auto [slot, tensor] : llvm::zip_equal(results, *made))
    tensor = exchange(tensor, slot.layout, slot.layout.inFiles(slot.type).getShape());
  return made;
}

Results Program::runCells(const Values &arguments, Arithmetic arithmetic, HeldTensors &held) const {
  SmallVector<Tensor> list;
  for (const InputSlot &slot : inputs) {
    auto found = arguments.find(slot.name);
    list.push_back(slot.isOfMicrobatch ? Tensor(slot.type)
                                       : exchange(found->second, slot.layout, slot.type.getShape()));
  }
  Results made = runOnRanks(list, arithmetic, /*perRank=*/nullptr, &held);
  if (failed(made))
    return failure();
  for (auto [slot, tensor] : llvm::zip_equal(results, *made))
    tensor = exchange(tensor, slot.layout, slot.layout.inFiles(slot.type).getShape());
  return made;
}

Results Program::run(const Values &arguments, Arithmetic arithmetic, std::vector<RankResult> *perRank) const {
  SmallVector<Tensor> list;
  for (const InputSlot &slot : inputs) {
    auto found = arguments.find(slot.name);
    assert(found != arguments.end() && "an input without a value");
    list.push_back(found->second);
  }
  return run(list, arithmetic, perRank);
}

LogicalResult Program::emitError(llvm::Error error) const {
  return op()->emitError() << llvm::toString(std::move(error));
}
