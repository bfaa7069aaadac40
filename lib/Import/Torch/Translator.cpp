//===- Translator.cpp - calls of ATen ops become ops of tg ----------------===//

#include "dialects/TG/ValueNames.h"
#include "lib/Import/Torch/Indices.h"
#include "lib/Import/Torch/Translation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Name of the tensor that a call overwrites, as aten.div_.Tensor and aten.div.out do; empty if it overwrites none.
static StringRef overwritten(const Call &call) {
  StringRef name = StringRef(call.op).split('.').second.split('.').first;
  for (const auto &[key, argument] : call.arguments)
    if (const auto *tensor = std::get_if<TensorName>(&argument); tensor && key == "out")
      return tensor->name;
  if (!name.ends_with("_") || name.starts_with("_") || call.arguments.empty())
    return "";
  const auto *tensor = std::get_if<TensorName>(&call.arguments.front().second);
  return tensor ? StringRef(tensor->name) : StringRef();
}

/// Returns the row of a call. An op that overwrites a tensor has the row of the op that does not.
const OpRow *Translator::findRow(const Call &call, Location loc) {
  std::string name = call.op;
  if (size_t place = name.find("_."); !overwritten(call).empty() && !rows.contains(name) && place != std::string::npos)
    name.erase(place, 1);
  const OpRow *row = rows.lookup(name);
  if (StringRef base = name; !row && base.consume_back(".out"))
    for (StringRef overload : {".Tensor", ".default"})
      row = row ? row : rows.lookup((base + overload).str());
  if (!row)
    emitError(loc)
        << call.op
        << " is not supported; docs/Importing.md lists the ops that are, and braid.export() takes many others apart";
  return row;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Translator::valueOf(StringRef name, Location loc) {
  RankedTensorType type = tensorType(typeOf(name), loc, name);
  return materialize(operands[memory.canonical(name)], type, builder, loc, hasFailed);
}

/// Reports an error if a call reads a tensor whose memory was overwritten through another tensor.
LogicalResult Translator::checkMemory(const Call &call, Location loc) {
  auto check = [&](StringRef name) -> LogicalResult {
    StringRef op = memory.overwrittenBy(name);
    if (op.empty())
      return success();
    return emitError(loc) << call.op << ": '" << name << "' shares memory with a tensor that " << op
                          << " has overwritten; use the op without '_'";
  };
  for (const auto &[name, argument] : call.arguments) {
    if (const auto *tensor = std::get_if<TensorName>(&argument); tensor && failed(check(tensor->name)))
      return failure();
    if (const auto *tensors = std::get_if<TensorNames>(&argument))
      for (const TensorName &each : *tensors)
        if (failed(check(each.name)))
          return failure();
  }
  return success();
}

/// Returns how the results of a call are views of its first operand.
View Translator::viewBy(const Call &call, StringRef base, Location loc) {
  View view{base.str(), std::nullopt, false};
  CallBuilder calls(*this, call, builder, loc);
  if (call.op == "aten.slice.Tensor" || call.op == "aten.select.int") {
    view.part = sliceRangeOf(calls);
    view.isFollowed = view.part && view.part->stride == 1;
  } else {
    view.isFollowed = StringRef(call.op).starts_with("aten.view.") ||
                      StringRef(call.op).starts_with("aten.unsqueeze.") ||
                      StringRef(call.op).starts_with("aten.squeeze.");
  }
  return view;
}

/// Gives the tensors behind a view their new values.
LogicalResult Translator::writeThrough(StringRef name, Location loc) {
  for (const View *view = memory.viewOf(name); view && view->isFollowed; view = memory.viewOf(view->base)) {
    tg::TensorBuilder b(builder, loc);
    Value part = valueOf(name, loc), base = valueOf(view->base, loc);
    if (view->part) {
      SmallVector<int64_t> shape(tg::typeOf(base).getShape());
      int64_t dim = view->part->dim, end = view->part->offset + view->part->size, size = shape[dim];
      shape[dim] = view->part->size;
      SmallVector<Value> parts;
      if (view->part->offset > 0)
        parts.push_back(b.slice(base, dim, 0, view->part->offset));
      parts.push_back(b.reshape(part, shape));
      if (end < size)
        parts.push_back(b.slice(base, dim, end, size - end));
      base = parts.size() == 1 ? parts.front() : b.make<tg::ConcatOp>(parts, dim);
    } else {
      base = b.reshape(part, tg::typeOf(base).getShape());
    }
    operands[view->base] = {base, std::nullopt};
    name = view->base;
  }
  return success(!hasFailed);
}

/// Notes which tensors share memory, and that a tensor has been overwritten.
LogicalResult Translator::noteMemory(const Call &call, const OpRow &row, Location loc) {
  if (StringRef target = overwritten(call); !target.empty() && call.results.size() == 1) {
    StringRef root = memory.rootOf(target);
    auto input = find_if(program.inputs, [&](const Input &input) { return input.name == root; });
    if (input != program.inputs.end() && failed(noteOverwrite(*input, call.op, loc)))
      return failure();
    StringRef result = call.results[0];
    bool isSame = program.typeOf(result).shape == program.typeOf(target).shape;
    if (isSame)
      operands[memory.canonical(target)] = Operand(operands[result]);
    memory.overwrite(target, result, isSame, call.op);
    return isSame ? writeThrough(memory.canonical(target), loc) : success();
  }
  const auto *first = call.arguments.empty() ? nullptr : std::get_if<TensorName>(&call.arguments.front().second);
  if (row.isView && first)
    for (const std::string &result : call.results)
      memory.addView(result, viewBy(call, first->name, loc));
  return success();
}

LogicalResult Translator::translate(const Call &call) {
  Location loc = locationOf(call);
  if (beginRoute(call))
    return success();
  if (readsRouted(call))
    return translateRouted(call, loc);
  const OpRow *row = findRow(call, loc);
  if (!row || failed(checkArguments(call, *row, loc)) || failed(checkMemory(call, loc)))
    return failure();
  if (failed(build(call, *row, loc)))
    return failure();
  return noteMemory(call, *row, loc);
}

LogicalResult Translator::build(const Call &call, const OpRow &row, Location loc) {
  if (row.build && call.results.empty())
    return emitError(loc) << call.op << ": the call has no result";
  CallBuilder calls(*this, call, builder, loc);
  if (row.isAssertion) {
    const MaybeKnown &holds = calls.known("self");
    if (holds && holds->splat().value_or(0) != 0)
      return success();
    return emitError(loc) << call.op << ": the assertion '" << calls.string("assert_msg")
                          << "' depends on an input or does not hold; remove it before the export";
  }
  for (unsigned i = 0; i < call.results.size(); ++i)
    if (!elementOf(calls.resultType(i).element, builder.getContext()))
      return tensorType(calls.resultType(i), loc, call.results[i]), failure();
  MaybeKnown known = row.evaluate && call.results.size() == 1 ? row.evaluate(calls) : std::nullopt;
  if (known && known->shape == ArrayRef<int64_t>(calls.resultType().shape)) {
    Operand &result = operands[call.results[0]];
    bool isInteger = calls.resultTensor().getElementType().isInteger(32);
    result.known = isInteger ? known::simplified(*known) : *known;
    // Integers and booleans are built when a call needs them; a table of numbers is built now, beside what is known.
    if (!isa<FloatType>(calls.resultTensor().getElementType()) || !row.build)
      return success();
  }
  if (!row.build)
    return call.results.empty()
               ? success()
               : LogicalResult(emitError(loc)
                               << call.op
                               << ": is supported only of values that do not depend on inputs or parameters");
  Values results = row.build(calls);
  if (hasFailed || calls.hasReported)
    return failure();
  if (results.empty() || is_contained(results, Value()))
    return emitError(loc) << call.op << ": operands of these types are not supported";
  if (results.size() != call.results.size())
    return emitError(loc) << call.op << ": the call has " << call.results.size() << " results, and the op has "
                          << results.size();
  for (auto [number, value] : enumerate(results)) {
    Operation *op = value.getDefiningOp();
    bool isNew = op && op->getLoc() == loc;
    if (isNew && calls.resultType(number).element == ScalarType::I64 && mayWrap(value))
      return emitError(loc) << call.op
                            << ": may need more than 32 bits, which integers have here; bound the operands by clamp() "
                               "or %, or convert them to floats";
    if (isNew)
      tg::named(call.results[number], value);
    if (value.getType() != calls.resultTensor(number))
      return emitError(loc) << call.op << ": the result is " << value.getType() << " here, and "
                            << calls.resultTensor(number) << " in the program";
    operands[call.results[number]].value = value;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

std::string Translator::nameOfOutput(size_t number) const {
  StringRef path = program.outputs[number].target;
  return path.empty() || isDigit(path.front()) ? "output" + std::to_string(number) : path.str();
}

/// Names the outputs: the loss is the scalar among them, logits the float tensor over the classes of the loss.
LogicalResult Translator::finish() {
  std::vector<ModelOutput> outputs;
  bool hasLoss = false;
  for (auto [number, output] : enumerate(program.outputs)) {
    Location loc = NameLoc::get(builder.getStringAttr(output.name));
    if (output.kind == Output::Kind::BufferMutation) {
      for (const Input &input : program.inputs)
        if (input.kind == Input::Kind::Buffer && input.target == output.target)
          updated.insert(input.name);
      continue;
    }
    if (StringRef op = memory.overwrittenBy(output.name); !op.empty())
      return emitError(loc) << "the output shares memory with a tensor that " << op << " has overwritten";
    if (routed.contains(output.name))
      return emitError(loc) << "the output is in the order of experts, which does not exist here";
    outputs.push_back({valueOf(output.name, loc), nameOfOutput(number)});
    RankedTensorType type = tg::typeOf(outputs.back().value);
    hasLoss |= type.getRank() == 0 && isa<FloatType>(type.getElementType());
  }
  if (hasLoss && options.loss)
    return emitError(function.getLoc()) << "--loss: the program returns a loss; leave --loss out, or return no loss";
  if (options.loss) {
    Value loss = requestedLoss(*options.loss);
    if (!loss || hasFailed)
      return failure();
    outputs.push_back({loss, "loss"});
  }
  if (failed(addStates(outputs)))
    return failure();
  return finishModel(function, argumentAttributes, outputs, "return the loss from forward, or add one with --loss");
}

Imported Translator::run() {
  Imported imported = runOnce();
  if (!imported.module || updated.empty())
    return imported;
  Translator again(program, archive, options, *builder.getContext());
  again.states = std::move(updated);
  return again.runOnce();
}

Imported Translator::runOnce() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(module->getLoc(), "model", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (const OpRow *row : allRows())
    rows[row->name] = row;
  if (failed(declareInputs()))
    return {};
  for (const Call &call : program.calls)
    if (failed(translate(call)))
      return {};
  if (failed(finish()))
    return {};
  KnownValues known;
  for (const auto &entry : operands)
    if (entry.second.value && entry.second.known)
      known.try_emplace(entry.second.value, *entry.second.known);
  Recognized recognized = recognize(function, known);
  return {std::move(module), std::move(recognized)};
}

Imported braid::torch::translate(const Program &program, const Archive &archive, const ImportOptions &options,
                                 MLIRContext &context) {
  return Translator(program, archive, options, context).run();
}
