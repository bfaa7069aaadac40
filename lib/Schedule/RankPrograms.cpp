//===- RankPrograms.cpp - finds the programs of ranks ---------------------===//

#include "lib/Schedule/RankPrograms.h"
#include "dialects/Comm/Programs.h"
#include "lib/Schedule/Agreement.h"
#include "lib/Schedule/PipelineTable.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

static ProgramAttr programOf(Operation *function) {
  return function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Checks that a function outside all programs has no communication.
static LogicalResult verifyNoCollectives(Operation *function) {
  auto result = function->walk([&](CollectiveOpInterface op) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "is in a function without 'comm.program', so the ranks that run it are unknown";
    diagnostic.attachNote(function->getLoc())
        << "add comm.program = #comm.program<" << op.getMeshAttr() << "> if all ranks run it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<std::vector<RankProgram>> braid::collectRankPrograms(ModuleOp module) {
  std::vector<RankProgram> programs;
  /// Index in `programs` of each program that is split along an axis, by mesh and entry.
  DenseMap<std::pair<Attribute, Attribute>, size_t> ofSeveral;
  for (Operation &function : *module.getBody()) {
    if (function.getNumRegions() != 1 || function.getRegion(0).empty())
      continue;
    ProgramAttr attribute = programOf(&function);
    if (!attribute) {
      if (failed(verifyNoCollectives(&function)))
        return failure();
      continue;
    }
    bool isCell = function.hasAttr(CommDialect::kCell);
    if (attribute.getAxis()) {
      // A unit attribute stands for the missing entry.
      Attribute name = isCell ? Attribute(UnitAttr::get(module.getContext())) : entryOf(&function);
      auto [entry, isNew] = ofSeveral.try_emplace({attribute.getMesh(), name}, programs.size());
      if (!isNew) {
        programs[entry->second].functions.push_back(&function);
        continue;
      }
    }
    FailureOr<Mesh> mesh = Mesh::require(&function, attribute.getMesh());
    if (failed(mesh))
      return failure();
    programs.push_back({attribute.getMesh(), *mesh, {&function}, isCell});
  }
  return programs;
}

//===----------------------------------------------------------------------===//
// Ranks and functions
//===----------------------------------------------------------------------===//

namespace {

/// Marks a coordinate without a function so far.
constexpr unsigned kNoClass = ~0u;

/// Builds an OrderProblem from the functions of one program.
class OrderReader {
public:
  explicit OrderReader(const RankProgram &program) : program(program) {}
  FailureOr<OrderProblem> run();

private:
  LogicalResult assignClass(Operation *function, unsigned number);
  LogicalResult readRanks();
  LogicalResult readTable();
  LogicalResult readSteps(const PipelineTable &table, int64_t coordinate);
  void startMessage(Operation *function, unsigned microbatch);
  void waitForMessage(Operation *function, unsigned microbatch);
  LogicalResult readBody(Operation *function);
  LogicalResult readFunction(Operation *function);
  void readCollective(CollectiveOpInterface op);
  LogicalResult readOp(Operation &op);
  LogicalResult readWait(WaitOp wait);
  LogicalResult verifyInside(Operation &op);
  LogicalResult verifyTickets();
  OrderProblem::Communication communicationOf(CollectiveOpInterface op);
  unsigned communicatorOf(AxesAttr axes);
  unsigned numberOf(Attribute attribute);

  const RankProgram &program;
  OrderProblem problem;
  /// Indices of the signatures that ranks must agree on, from 1.
  DenseMap<Attribute, unsigned> numbers;
  DenseMap<AxesAttr, unsigned> communicators;
  /// Indices of the starts in the current class.
  DenseMap<Operation *, unsigned> startNumbers;
  /// Indices of a pipeline's messages, by function and microbatch.
  DenseMap<std::pair<Operation *, unsigned>, SmallVector<unsigned>> messages;
};

} // namespace

/// Assigns the class of a function to its coordinates.
LogicalResult OrderReader::assignClass(Operation *function, unsigned number) {
  Operation *first = program.functions.front();
  StringAttr axis = programOf(first).getAxis();
  ProgramAttr attribute = programOf(function);
  if (attribute.getAxis() != axis) {
    InFlightDiagnostic diagnostic = function->emitError();
    diagnostic << "the functions of a program must be split along one axis; this one is split along '"
               << attribute.getAxis().getValue() << "'";
    diagnostic.attachNote(first->getLoc()) << "the first is split along '" << axis.getValue() << "'";
    return diagnostic;
  }
  for (int64_t coordinate : attribute.getCoordinates()) {
    unsigned &cls = problem.classOf[coordinate];
    if (cls != kNoClass) {
      InFlightDiagnostic diagnostic = function->emitError();
      diagnostic << "the ranks with " << axis.getValue() << " = " << coordinate << " would run two functions";
      diagnostic.attachNote(program.functions[cls]->getLoc()) << "they run this one";
      return diagnostic;
    }
    cls = number;
  }
  return success();
}

/// Checks that every coordinate along the program's axis has exactly one class.
LogicalResult OrderReader::readRanks() {
  const Mesh &mesh = program.mesh;
  problem.sizes.assign(mesh.getSizes().begin(), mesh.getSizes().end());
  Operation *first = program.functions.front();
  StringAttr axis = programOf(first).getAxis();
  if (!axis)
    return success();
  problem.axis = llvm::find(mesh.getNames(), axis) - mesh.getNames().begin();
  problem.classOf.assign(mesh.sizeOf(axis), kNoClass);
  for (auto [number, function] : llvm::enumerate(program.functions))
    if (failed(assignClass(function, number)))
      return failure();
  auto missing = llvm::find(problem.classOf, kNoClass);
  if (missing == problem.classOf.end())
    return success();
  return first->emitError() << "no function of the program on " << program.meshName << ' ' << mesh.str()
                            << " is run by the ranks with " << axis.getValue() << " = "
                            << missing - problem.classOf.begin() << "; add one, even if it is empty";
}

//===----------------------------------------------------------------------===//
// Communications
//===----------------------------------------------------------------------===//

unsigned OrderReader::numberOf(Attribute attribute) {
  return numbers.try_emplace(attribute, numbers.size() + 1).first->second;
}

unsigned OrderReader::communicatorOf(AxesAttr axes) {
  auto [entry, isNew] = communicators.try_emplace(axes, problem.communicators.size());
  if (isNew) {
    auto &numbers = problem.communicators.emplace_back();
    ArrayRef<StringAttr> names = program.mesh.getNames();
    for (StringAttr axis : axes.getNames())
      numbers.push_back(llvm::find(names, axis) - names.begin());
  }
  return entry->second;
}

OrderProblem::Communication OrderReader::communicationOf(CollectiveOpInterface op) {
  using CommunicationKind = OrderProblem::CommunicationKind;
  OrderProblem::Communication result;
  if (std::optional<int64_t> peer = op.getPeerRank()) {
    result.kind =
        op.getRow().sent.participants == Participants::Nobody ? CommunicationKind::Recv : CommunicationKind::Send;
    result.peer = *peer;
  }
  Agreement agreement = agreementOf(op);
  result.communicator = communicatorOf(op.getAxes());
  result.content = numberOf(agreement.content);
  result.sent = agreement.sent ? numberOf(agreement.sent) : 0;
  result.received = agreement.received ? numberOf(agreement.received) : 0;
  result.moved = agreement.moved ? numberOf(agreement.moved) : 0;
  result.op = op;
  return result;
}

/// Reads a collective. The op's verifier has checked that its mesh is the program's.
void OrderReader::readCollective(CollectiveOpInterface op) {
  OrderProblem::Class &cls = problem.classes.back();
  cls.steps.push_back({OrderProblem::Step::Start, unsigned(cls.communications.size()), op});
  cls.communications.push_back(communicationOf(op));
}

LogicalResult OrderReader::readWait(WaitOp wait) {
  auto start = startNumbers.find(wait.getTicket().getDefiningOp());
  if (start == startNumbers.end())
    return wait.emitOpError() << "is not after the start of its ticket in the same function";
  problem.classes.back().steps.push_back({OrderProblem::Step::Wait, start->second, wait});
  return success();
}

/// Checks that an op that is neither a collective nor a start hides no communications.
LogicalResult OrderReader::verifyInside(Operation &op) {
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (Operation *callee = call.resolveCallable(); callee && programOf(callee))
      return op.emitOpError()
             << "calls a program of ranks, but the collectives of a rank are ordered in one function; inline it first";
  for (Region &region : op.getRegions()) {
    auto result = region.walk([&](CollectiveOpInterface inner) {
      inner->emitOpError() << "is inside '" << op.getName()
                           << "', so its position in the order of collectives is unknown at compile time";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult OrderReader::readOp(Operation &op) {
  unsigned number = problem.classes.back().communications.size();
  if (copyOf(&op)) // no other rank takes part
    return success();
  if (auto start = dyn_cast<StartOp>(op)) {
    startNumbers[start] = number;
    readCollective(start.getCollective());
    return success();
  }
  if (auto wait = dyn_cast<WaitOp>(op))
    return readWait(wait);
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return verifyInside(op);
  readCollective(collective);
  problem.classes.back().steps.push_back({OrderProblem::Step::Wait, number, &op});
  return success();
}

LogicalResult OrderReader::readFunction(Operation *function) {
  problem.classes.emplace_back().op = function;
  return readBody(function);
}

LogicalResult OrderReader::readBody(Operation *function) {
  startNumbers.clear();
  Region &body = function->getRegion(0);
  if (!body.hasOneBlock())
    return function->emitError()
           << "a program of ranks is one block, in which the order of collectives is fixed; this one has "
           << body.getBlocks().size();
  for (Operation &op : body.front())
    if (failed(readOp(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The table of a pipeline
//===----------------------------------------------------------------------===//

void OrderReader::startMessage(Operation *function, unsigned microbatch) {
  SmallVector<unsigned> &numbers = messages[{function, microbatch}];
  numbers.clear();
  function->walk([&](CollectiveOpInterface op) {
    numbers.push_back(problem.classes.back().communications.size());
    readCollective(op);
  });
}

void OrderReader::waitForMessage(Operation *function, unsigned microbatch) {
  for (unsigned number : messages[{function, microbatch}])
    problem.classes.back().steps.push_back({OrderProblem::Step::Wait, number, function});
}

/// Reads the steps of the ranks with one coordinate, cell after cell.
LogicalResult OrderReader::readSteps(const PipelineTable &table, int64_t coordinate) {
  problem.classes.emplace_back().op = table.getOp();
  messages.clear();
  for (const pipeline::WalkStep &step : table.stepsOf(coordinate)) {
    Operation *function = table.functionOf(step);
    if (step.kind == pipeline::WalkStep::Start)
      startMessage(function, step.microbatch);
    else if (step.kind == pipeline::WalkStep::Wait)
      waitForMessage(function, step.microbatch);
    else if (failed(readBody(function)))
      return failure();
  }
  return success();
}

LogicalResult OrderReader::readTable() {
  auto module = program.functions.front()->getParentOfType<ModuleOp>();
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(module);
  if (failed(table))
    return failure();
  if (!*table)
    return program.functions.front()->emitError()
           << "is a cell of a pipeline, but the module has no comm.pipeline, whose table schedules it";
  const Mesh &mesh = program.mesh;
  problem.sizes.assign(mesh.getSizes().begin(), mesh.getSizes().end());
  StringAttr axis = (*table)->getOp().getAxisAttr();
  problem.axis = llvm::find(mesh.getNames(), axis) - mesh.getNames().begin();
  for (int64_t coordinate = 0; coordinate < mesh.sizeOf(axis); ++coordinate) {
    problem.classOf.push_back(coordinate);
    if (failed(readSteps(**table, coordinate)))
      return failure();
  }
  return success();
}

LogicalResult OrderReader::verifyTickets() {
  std::optional<OrderFault> fault = check(problem);
  if (!fault)
    return success();
  const OrderProblem::Class &cls = problem.classes[fault->classNumber];
  Operation *started = cls.communications[fault->communication].op;
  Operation *at = fault->step ? cls.steps[*fault->step].op : started;
  InFlightDiagnostic diagnostic = at->emitOpError();
  switch (fault->kind) {
  case OrderFault::StartedOutOfOrder:
    llvm_unreachable("communications are numbered as they are read");
  case OrderFault::WaitedBeforeStart:
    diagnostic << "is before the start of its ticket";
    break;
  case OrderFault::WaitedTwice:
    diagnostic << "waits for a ticket a second time";
    break;
  case OrderFault::NeverWaited:
    return diagnostic << "is started but never waited for: its memory could not be used again";
  }
  diagnostic.attachNote(started->getLoc()) << "started here";
  return diagnostic;
}

FailureOr<OrderProblem> OrderReader::run() {
  if (program.isTable ? failed(readTable()) : failed(readRanks()))
    return failure();
  for (Operation *function : program.functions)
    if (!program.isTable && failed(readFunction(function)))
      return failure();
  if (failed(verifyTickets()))
    return failure();
  return std::move(problem);
}

FailureOr<OrderProblem> braid::readOrder(const RankProgram &program) { return OrderReader(program).run(); }
