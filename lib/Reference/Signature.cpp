//===- Signature.cpp - inputs and results of programs ---------------------===//

#include "dialects/Comm/Sharding.h"
#include "dialects/Exec/KernelBody.h"
#include "dialects/Interfaces/Indexing.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Reference/Memory.h"
#include "lib/Reference/Program.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Valid ints of an input
//===----------------------------------------------------------------------===//

static void limit(InputSlot &slot, int64_t bound) { slot.bound = slot.bound ? std::min(slot.bound, bound) : bound; }

/// Returns the shape of a tensor or reference.
static ArrayRef<int64_t> shapeOf(Value value) {
  if (auto ref = dyn_cast<exec::RefType>(value.getType()))
    return ref.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

static void follow(Value value, InputSlot &slot);

/// Follows a sent value to the result of the collective, unless it reduces, which makes other numbers.
static void followSent(Value value, comm::CollectiveOpInterface collective, InputSlot &slot) {
  if (collective.getReductionKind())
    return;
  ResultRange results = collective->getResults();
  if (auto start = dyn_cast<comm::StartOp>(collective->getParentOp()); start && start.getWait())
    results = start.getWait()->getResults();
  for (auto [sent, result] : llvm::zip(collective.getSent(), results))
    if (sent == value)
      follow(result, slot);
}

/// Limits the ints by the table rows that a kernel looks up with the value.
static void followIntoKernel(Value value, exec::KernelOp kernel, InputSlot &slot) {
  exec::visitTableReads(*kernel.getBlock(), [&](linalg::GenericOp, const exec::TableRead &read) {
    if (read.numbers && kernel.getIns()[read.numbers.getArgNumber()] == value)
      limit(slot, shapeOf(read.table)[0]);
  });
}

static void followIndex(Value value, IndexingOpInterface op, InputSlot &slot) {
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<IndexRange> range = operand.get() == value ? op.getIndexRange(operand) : std::nullopt;
    if (!range)
      continue;
    limit(slot, range->extent);
    if (range->ignored)
      slot.ignoreIndex = range->ignored;
  }
}

/// Follows the value through ops that keep its elements. If a rank looks up rows of its
/// part of a table, arithmetic comes first, and the bound stays unknown.
static void follow(Value value, InputSlot &slot) {
  for (Operation *user : value.getUsers()) {
    if (auto gather = dyn_cast<exec::GatherOp>(user)) {
      if (gather.getIndices() == value)
        limit(slot, shapeOf(gather.getTable())[0]);
    } else if (auto kernel = dyn_cast<exec::KernelOp>(user)) {
      followIntoKernel(value, kernel, slot);
    } else if (auto loss = dyn_cast<tg::CrossEntropyOp>(user)) {
      limit(slot, shapeOf(loss.getLogits()).back());
      slot.ignoreIndex = loss.getIgnoreIndex();
    } else if (auto gradient = dyn_cast<tg::CrossEntropyGradOp>(user)) {
      limit(slot, shapeOf(gradient.getLogits()).back());
      slot.ignoreIndex = gradient.getIgnoreIndex();
    } else if (auto indexing = dyn_cast<IndexingOpInterface>(user)) {
      followIndex(value, indexing, slot);
    } else if (isa<exec::ViewOp>(user) || onlyMovesOrRounds(user)) {
      for (Value result : user->getResults())
        follow(result, slot);
    } else if (auto collective = dyn_cast<comm::CollectiveOpInterface>(user)) {
      followSent(value, collective, slot);
    }
  }
}

/// Sets the bound and the ignored index of an input, from the tables that it indexes and the classes that it names.
static void findBound(BlockArgument argument, InputSlot &slot) {
  if (slot.type.getElementType().isInteger())
    follow(argument, slot);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Fills a slot from `#tg.param`, `#tg.state` or an input's name.
static void describe(InputSlot &slot, Attribute value) {
  if (auto param = dyn_cast_or_null<tg::ParamAttr>(value)) {
    slot.kind = InputKind::Param;
    slot.name = param.getName().str();
    slot.copyOf = param.getCopyOf() ? param.getCopyOf().str() : "";
    slot.init = param.getInit();
    slot.layout = tg::fileLayoutOf(value);
    slot.frozen = param.getFrozen();
  } else if (auto state = dyn_cast_or_null<tg::StateAttr>(value)) {
    slot.kind = InputKind::State;
    slot.name = state.getName().str();
    slot.init = state.getInit();
    slot.isAccumulator = state.isAccumulator();
    slot.isOfMicrobatch = state.isOfMicrobatch();
    slot.layout = tg::fileLayoutOf(value);
  } else if (auto name = dyn_cast_or_null<StringAttr>(value)) {
    slot.name = name.str();
  }
}

static std::string textOf(Attribute attribute) {
  if (auto role = dyn_cast_or_null<tg::RoleAttr>(attribute))
    return tg::stringifyRole(role.getValue()).str();
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

/// Returns the layout of the tensor that a result updates or is the gradient of.
static tg::FileLayout layoutOf(const ResultSlot &slot, const std::vector<InputSlot> &inputs) {
  for (const InputSlot &input : inputs)
    if (input.name == (slot.updates.empty() ? slot.gradOf : slot.updates))
      return input.layout;
  return {};
}

/// Sets the type and the sharding of a slot: those of the logical tensor, of which a
/// rank holds a part of type `held`.
template <typename SlotT>
static LogicalResult setTypes(SlotT &slot, Operation *program, const Twine &what, Type held, Attribute global,
                              Attribute sharding) {
  auto local = dyn_cast<RankedTensorType>(held);
  if (!local || !local.hasStaticShape())
    return program->emitError() << what << " is " << held << "; the interpreter takes ranked tensors of static shape";
  slot.type = local;
  auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  if (!ranks)
    return success();
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(program, ranks.getMesh());
  if (failed(mesh))
    return failure();
  if (auto type = dyn_cast_or_null<TypeAttr>(global))
    slot.type = cast<RankedTensorType>(type.getValue());
  slot.sharding = dyn_cast_or_null<comm::ShardingAttr>(sharding);
  if (!slot.sharding)
    slot.sharding = comm::ShardingAttr::replicated(ranks.getMesh(), slot.type.getRank());
  auto emitError = [&] { return program->emitError() << what << ": "; };
  if (failed(comm::verifySharding(emitError, *mesh, slot.sharding, slot.type)))
    return failure();
  if (RankedTensorType part = comm::localType(slot.type, slot.sharding, *mesh); part != local)
    return emitError() << "the part of " << slot.type << " under " << slot.sharding << " is " << part
                       << ", but the type is " << local;
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static FailureOr<InputSlot> inputOf(func::FuncOp function, BlockArgument argument) {
  unsigned i = argument.getArgNumber();
  InputSlot slot;
  if (failed(setTypes(slot, function, "argument #" + Twine(i), argument.getType(),
                      function.getArgAttr(i, comm::CommDialect::kGlobal),
                      function.getArgAttr(i, comm::CommDialect::kSharding))))
    return failure();
  tg::ArgumentAttrs attributes(argument);
  describe(slot, attributes.persistent() ? attributes.persistent() : attributes.input);
  if (slot.name.empty())
    slot.name = "arg" + std::to_string(i);
  slot.role = textOf(attributes.role);
  findBound(argument, slot);
  return slot;
}

static FailureOr<ResultSlot> resultOf(func::FuncOp function, unsigned i, const std::vector<InputSlot> &inputs) {
  ResultSlot slot;
  if (failed(setTypes(slot, function, "result #" + Twine(i), function.getResultTypes()[i],
                      function.getResultAttr(i, comm::CommDialect::kGlobal),
                      function.getResultAttr(i, comm::CommDialect::kSharding))))
    return failure();
  tg::ResultAttrs attributes(function, i);
  slot.role = textOf(attributes.role ? Attribute(attributes.role) : attributes.output);
  slot.updates = textOf(attributes.updates);
  slot.gradOf = textOf(attributes.gradientOf);
  slot.layout = layoutOf(slot, inputs);
  return slot;
}

FailureOr<Signature> braid::reference::signatureOf(func::FuncOp function) {
  Signature signature;
  for (BlockArgument argument : function.getArguments()) {
    FailureOr<InputSlot> slot = inputOf(function, argument);
    if (failed(slot))
      return failure();
    signature.inputs.push_back(*slot);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FailureOr<ResultSlot> slot = resultOf(function, i, signature.inputs);
    if (failed(slot))
      return failure();
    signature.results.push_back(*slot);
  }
  return signature;
}

//===----------------------------------------------------------------------===//
// Programs in memory form
//===----------------------------------------------------------------------===//

/// Sets the type and the sharding of a slot from a tensor or buffer.
template <typename SlotT, typename OpT>
static LogicalResult setTypesOf(SlotT &slot, Operation *program, OpT op, Type type) {
  return setTypes(slot, program, "'" + op.getSymName() + "'", type, op->getAttr(comm::CommDialect::kGlobal),
                  op->getAttr(comm::CommDialect::kSharding));
}

FailureOr<Signature> braid::reference::signatureOf(exec::ProgramOp program) {
  Signature signature;
  Machine machine(program, Arithmetic::Native);
  std::vector<ResultSlot> updates;
  for (exec::TensorOp tensor : machine.persistent) {
    InputSlot &slot = signature.inputs.emplace_back();
    ResultSlot &update = updates.emplace_back();
    describe(slot, tensor.getValue());
    update.updates = slot.name;
    update.layout = slot.layout;
    if (failed(setTypesOf(slot, program, tensor, tensor.getType())) ||
        failed(setTypesOf(update, program, tensor, tensor.getType())))
      return failure();
  }
  for (exec::BufferOp buffer : machine.inputs) {
    InputSlot &slot = signature.inputs.emplace_back();
    slot.name = buffer.getName().str();
    slot.role = buffer.getRole().value_or("").str();
    if (failed(setTypesOf(slot, program, buffer, *buffer.getType())))
      return failure();
  }
  for (exec::BufferOp buffer : machine.results) {
    ResultSlot &slot = signature.results.emplace_back();
    StringRef role = buffer.getRole().value_or("");
    // Two statements: one assignment would copy `role` before the prefix is removed.
    std::string &target = role.consume_front("grad_of ") ? slot.gradOf : slot.role;
    target = role.str();
    slot.layout = layoutOf(slot, signature.inputs);
    if (failed(setTypesOf(slot, program, buffer, *buffer.getType())))
      return failure();
  }
  signature.results.insert(signature.results.end(), updates.begin(), updates.end());
  return signature;
}
