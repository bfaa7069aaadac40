//===- Step.cpp - training steps, with microbatches -----------------------===//

#include "lib/Reference/Step.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

FailureOr<Step> Step::find(ModuleOp module, StringRef name) {
  FailureOr<Program> main = Program::find(module, name);
  if (failed(main))
    return failure();
  Step step{*main, std::nullopt, 1};
  FailureOr<std::optional<PipelineTable>> pipeline = PipelineTable::of(module);
  if (failed(pipeline))
    return failure();
  if (*pipeline && (*main).isEntry("train")) {
    step.microbatches = (*pipeline)->getSchedule().numMicrobatches();
    step.pipeline = std::move(*pipeline);
    return step;
  }
  if (name == "accumulate" || !Program::exists(module, "accumulate"))
    return step;
  FailureOr<Program> accumulate = Program::find(module, "accumulate");
  if (failed(accumulate))
    return failure();
  step.accumulate = std::move(*accumulate);
  return step;
}

/// Returns the microbatch's rows of a tensor of the whole batch.
static Tensor rowsOf(const Tensor &whole, ArrayRef<int64_t> shape, int64_t microbatch) {
  Tensor part(shape, whole.elementType);
  std::copy_n(whole.elements.begin() + microbatch * part.size(), part.size(), part.elements.begin());
  return part;
}

llvm::Expected<Values> braid::reference::inputsOf(const Program &program, const Values &values,
                                                  const InputOptions &options, int64_t microbatches) {
  Values inputs;
  for (const InputSlot &slot : program.inputs) {
    auto found = values.find(slot.name);
    if (found == values.end())
      continue;
    Index shape(slot.logicalType().getShape()), whole(shape);
    if (!whole.empty())
      whole[0] *= microbatches;
    bool isSplit = microbatches > 1 && found->second.shape != shape && found->second.shape == whole;
    Tensor &input = inputs[slot.name];
    input = isSplit ? rowsOf(found->second, shape, options.microbatch) : found->second;
    if (slot.role == "key" && input.size() == 4)
      input.n(3) = options.microbatch;
  }
  if (llvm::Error error = makeInputs(program, options, inputs))
    return error;
  return inputs;
}

void braid::reference::applyUpdates(const Program &program, ArrayRef<Tensor> made, Values &values) {
  for (auto [slot, tensor] : llvm::zip_equal(program.results, made))
    if (!slot.updates.empty())
      values[slot.updates] = tensor;
}

/// Makes parameters and states from the step's last program, the only one with the masters that copies are
/// rounded from.
llvm::Error Step::makeState(Values &values, const InputOptions &options) const {
  auto isState = [](const InputSlot &slot) {
    return slot.kind != InputKind::Input && !slot.isAccumulator && !slot.isOfMicrobatch;
  };
  if (llvm::all_of(main.inputs, [&](const InputSlot &slot) { return !isState(slot) || values.count(slot.name); }))
    return llvm::Error::success();
  llvm::Expected<Values> inputs = inputsOf(main, values, options, microbatches);
  if (!inputs)
    return inputs.takeError();
  for (const InputSlot &slot : main.inputs)
    if (isState(slot))
      values.emplace(slot.name, inputs->at(slot.name));
  return llvm::Error::success();
}

Results Step::run(Values &values, InputOptions options, Arithmetic arithmetic) const {
  if (pipeline || accumulate)
    if (llvm::Error error = makeState(values, options))
      return main.emitError(std::move(error));
  if (pipeline && failed(runTable(values, options, arithmetic)))
    return failure();
  for (int64_t m = pipeline ? microbatches - 1 : 0; m < microbatches; ++m) {
    bool last = m + 1 == microbatches;
    const Program &program = last ? main : *accumulate;
    options.microbatch = m;
    llvm::Expected<Values> inputs = inputsOf(program, values, options, microbatches);
    if (!inputs)
      return program.emitError(inputs.takeError());
    for (const InputSlot &slot : program.inputs)
      if (slot.kind != InputKind::Input)
        values.emplace(slot.name, inputs->at(slot.name));
    Results made = program.run(*inputs, arithmetic);
    if (failed(made))
      return failure();
    applyUpdates(program, *made, values);
    if (last)
      return made;
  }
  llvm_unreachable("a step has a microbatch");
}

static bool holdsBatch(const InputSlot &slot) {
  return !slot.type.getShape().empty() &&
         llvm::is_contained({"tokens", "targets", "features", "labels", "shared"}, StringRef(slot.role));
}

/// Fills the inputs of all microbatches of a step: from the token file, or with random
/// values that are the same in every step.
static llvm::Error fillBatch(const Step &step, const TrainingOptions &options, int64_t number, Values &values) {
  FailureOr<Program> batched = step.batched();
  if (failed(batched))
    return llvm::createStringError("the cells of the pipeline cannot be run");
  for (InputSlot slot : batched->inputs) {
    if (!holdsBatch(slot))
      continue;
    Index shape(slot.type.getShape());
    shape[0] *= step.microbatches;
    slot.type = RankedTensorType::get(shape, slot.type.getElementType());
    if (!options.tokens || (slot.role != "tokens" && slot.role != "targets")) {
      llvm::Expected<Tensor> batch = makeInput(slot, options.inputs);
      if (!batch)
        return batch.takeError();
      values[slot.name] = std::move(*batch);
      continue;
    }
    Tensor batch(slot.type);
    if (llvm::Error error = options.tokens->fill(batch, number * shape[0], slot.role == "targets"))
      return error;
    for (const Element &token : batch.elements)
      if (slot.bound && token.i >= slot.bound)
        return llvm::createStringError("token %lld is outside the vocabulary of %lld", static_cast<long long>(token.i),
                                       static_cast<long long>(slot.bound));
    values[slot.name] = std::move(batch);
  }
  return llvm::Error::success();
}

/// Prints a line of text, and writes a line of JSON to `log`.
static void report(const Program &program, ArrayRef<Tensor> made, int64_t number, llvm::raw_ostream &os,
                   llvm::raw_ostream *log) {
  os << "step " << number << ':';
  llvm::json::Object line{{"step", number}};
  for (auto [slot, tensor] : llvm::zip_equal(program.results, made)) {
    if (!slot.updates.empty() || tensor.rank() != 0 || !tensor.hasFloats())
      continue;
    std::string name = slot.name().empty() ? "result" : slot.name();
    os << ' ' << name << llvm::format(" %.8g", tensor.f(0));
    line[name] = tensor.f(0);
  }
  os << '\n';
  if (log)
    *log << llvm::json::Value(std::move(line)) << '\n';
}

LogicalResult braid::reference::train(const Step &step, const TrainingOptions &options, Values &values,
                                      llvm::raw_ostream &os, llvm::raw_ostream *log) {
  InputOptions inputs = options.inputs;
  for (int64_t number = 0; number < options.steps; ++number) {
    inputs.step = number + 1;
    if (llvm::Error error = fillBatch(step, options, number, values))
      return step.main.emitError(std::move(error));
    Results made = step.run(values, inputs, options.arithmetic);
    if (failed(made))
      return failure();
    report(step.main, *made, number + 1, os, log);
  }
  return success();
}
