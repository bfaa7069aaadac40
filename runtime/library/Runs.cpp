//===- Runs.cpp - inputs, steps and outputs -------------------------------===//

#include "core/TensorPart.h"
#include "library/Handle.h"

#include <algorithm>
#include <cmath>

using namespace braid;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

int32_t braid_input_count(const braid_step *step) {
  return counted(__func__, step, [&] { return step->inputs.named().size(); });
}

braid_status braid_get_input(const braid_step *step, int32_t index, braid_input *out) {
  return guarded(__func__, {{"step", step}, {"input", out}}, [&] {
    const std::vector<InputSlot> slots = step->inputs.named();
    if (index < 0 || index >= static_cast<int32_t>(slots.size()))
      fail("there is no input ", index, "; this rank has ", slots.size());
    const InputSlot &slot = slots[index];
    const br_io &io = *slot.io;
    *out = {};
    out->name = io.name;
    out->role = io.role;
    out->type = static_cast<braid_type>(io.dtype);
    out->rank = io.rank;
    std::copy_n(io.shape, io.rank, out->shape);
    std::copy(slot.part.begin.begin(), slot.part.begin.end(), out->begin);
    std::copy(slot.part.extent.begin(), slot.part.extent.end(), out->extent);
    out->limit = io.extent;
    out->ignored = io.ignored;
    out->in_train = slot.inTrain;
    out->in_eval = slot.inEval;
    out->in_forward = slot.inForward;
  });
}

braid_status braid_set_input(braid_step *step, const char *name, int32_t microbatch, braid_type type,
                             const void *values, braid_extent extent) {
  return guarded(__func__, {{"step", step}, {"name", name}, {"values", values}}, [&] {
    checkExtent(extent);
    step->inputs.set(name, microbatch, checkedType(type), values, extent);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static constexpr float kNoRate = 0; // of programs that update nothing

// Writes everything that a program reads, and runs it.
static void run(braid_step &step, const br_program &program, int microbatch, int64_t number, float lr) {
  step.outputs.clear(); // they share the arena with this run
  step.inputs.fill(step.model, program, microbatch);
  step.model.setLearningRate(program, lr);
  step.model.setStep(program, number);
  step.model.setKey(program, step.state.seed, number, microbatch);
  if (const br_io *stop = findByRole(inputsOf(program), "stop"))
    *step.model.input<float>(program, *stop) = 0;
  step.model.run(program);
}

static void runMicrobatches(braid_step &step, int first, float lr) {
  step.runs.runStep(first, step.microbatches(), [&](const br_program &program, int microbatch) {
    run(step, program, microbatch, step.state.step + 1, lr);
  });
}

braid_status braid_accumulate(braid_step *step) {
  const auto check = [&] {
    if (step->runs.isPipeline())
      fail("the microbatches of a pipeline run together; set the inputs of all, and call braid_train");
    if (step->nextMicrobatch >= step->microbatches() - 1)
      fail("microbatch ", step->nextMicrobatch, " is the last of ", step->microbatches(),
           " in a step, which braid_train runs");
    step->inputs.require(&InputSlot::inTrain, step->nextMicrobatch, step->nextMicrobatch + 1);
  };
  return guardedTogether(__func__, step, check, [&] {
    step->runs.runMicrobatch(step->nextMicrobatch, step->microbatches(), [&](const br_program &program, int number) {
      run(*step, program, number, step->state.step + 1, kNoRate);
    });
    ++step->nextMicrobatch;
  });
}

// Reads the scalar results of `train` beside the loss.
static void readScalars(braid_step &step) {
  step.scalars.clear();
  const br_program &train = step.runs.train();
  for (const br_io &io : resultsOf(train)) {
    const std::string_view role = io.role;
    if (io.rank == 0 && io.dtype == BR_F32 && role != "loss" && role != "stop")
      step.scalars.emplace_back(&io, step.model.result<float>(train, io));
  }
}

braid_status braid_train(braid_step *step, float lr, braid_result *result) {
  const auto check = [&] {
    checkLearningRate(lr);
    (void)lossOf(step->runs.train());
    step->inputs.require(&InputSlot::inTrain, step->nextMicrobatch, step->microbatches());
  };
  return guardedTogether(__func__, step, check, [&] {
    runMicrobatches(*step, step->nextMicrobatch, lr);
    step->nextMicrobatch = 0;
    const br_program &train = step->runs.train();
    const float value = step->model.result<float>(train, lossOf(train));
    readScalars(*step);
    ++step->state.step;
    step->state.lastLoss = value;
    step->state.lr = lr;
    const br_io *norm = findByRole(resultsOf(train), "grad_norm");
    if (result)
      *result = {step->state.step, value, norm ? step->model.result<float>(train, *norm) : NAN};
  });
}

int32_t braid_scalar_count(const braid_step *step) {
  return counted(__func__, step, [&] { return step->scalars.size(); });
}

braid_status braid_get_scalar(const braid_step *step, int32_t index, const char **name, float *value) {
  return guarded(__func__, {{"step", step}, {"name", name}, {"value", value}}, [&] {
    if (index < 0 || index >= braid_scalar_count(step))
      fail("there is no scalar ", index, "; the last step had ", step->scalars.size());
    const auto &[io, number] = step->scalars[index];
    *name = io->role;
    *value = number;
  });
}

//===----------------------------------------------------------------------===//
// Evaluation and outputs
//===----------------------------------------------------------------------===//

// Refuses to run a program between the microbatches of a step, whose sums share the arena.
static void checkBetweenSteps(const braid_step &step, const char *function, bool InputSlot::*isRead) {
  if (step.nextMicrobatch > 0)
    fail(function, " was called after microbatch ", step.nextMicrobatch, " of ", step.microbatches(),
         "; finish the step by braid_train first");
  step.inputs.require(isRead, 0, 1);
}

braid_status braid_evaluate(braid_step *step, float *result) {
  const auto check = [&] {
    checkPointers("braid_evaluate", {{"loss", result}});
    if (!step->eval)
      fail("model '", step->table.name, "' has no program 'eval'");
    checkBetweenSteps(*step, "braid_evaluate", &InputSlot::inEval);
  };
  return guardedTogether(__func__, step, check, [&] {
    run(*step, *step->eval, 0, 0, kNoRate);
    *result = step->model.result<float>(*step->eval, lossOf(*step->eval));
  });
}

braid_status braid_forward(braid_step *step) {
  const auto check = [&] {
    if (!step->predict)
      fail("model '", step->table.name, "' has no output: none of its graph's results is a tensor with tg.output");
    checkBetweenSteps(*step, "braid_forward", &InputSlot::inForward);
  };
  return guardedTogether(__func__, step, check, [&] {
    run(*step, *step->predict, 0, 0, kNoRate);
    step->outputs.assign(step->predict->n_results, {});
  });
}

int32_t braid_output_count(const braid_step *step) {
  return counted(__func__, step, [&] { return step->predict ? step->predict->n_results : 0; });
}

braid_status braid_get_output(braid_step *step, int32_t index, braid_tensor *out) {
  return guarded(__func__, {{"step", step}, {"output", out}}, [&] {
    step->enter();
    if (index < 0 || index >= braid_output_count(step))
      fail("there is no output ", index, "; the model has ", braid_output_count(step));
    if (step->outputs.empty())
      fail("outputs are those of braid_forward, until the next run; call it first");
    const br_io &io = resultsOf(*step->predict)[index];
    const TensorPart part = partOf(step->table, io, step->model.rank().number);
    *out = {};
    out->name = io.role;
    out->type = static_cast<braid_type>(io.dtype);
    describePart(part, io.shape, *out);
    out->is_whole = out->is_whole && io.partial == 0;
    out->on_host = 1;
    out->bytes = io.bytes;
    step->model.onHost(io, Use::Read, [&](const std::byte *memory) {
      std::vector<std::byte> &copy = step->outputs[index];
      copy.assign(memory, memory + io.bytes);
      out->data = copy.data();
    });
  });
}
