//===- RunCommand.cpp - run one program once ------------------------------===//
//
// Runs a program on given or random tensors, and writes its inputs and outputs to one file, so that another
// implementation can be compared with it. A tensor of the model is written under its name as it was before
// the run, and as "updates <name>" if the run changed it. A result is named by its role.
//
// All tensors are logical tensors: each rank takes its part, and random values depend on the place in the
// logical tensor, so every layout gets the same values.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Hash.h"
#include "base/NumberTypes.h"
#include "base/Philox.h"
#include "base/Safetensors.h"
#include "checkpoint/PieceReader.h"
#include "core/Mesh.h"
#include "core/Model.h"
#include "core/TensorPart.h"
#include "data/DataRows.h"
#include "host/Threads.h"
#include "train/Commands.h"
#include "train/RunOutputs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace braid;

namespace {

// A logical tensor and this rank's part of it.
struct Slot {
  OutputTensor tensor;
  TensorPart where;
  int64_t piece; // index of the rank's term if the tensor is a partial sum
  int64_t bound; // exclusive upper bound of random integers
};

class Runner {
public:
  Runner(const br_model &table, const RunOptions &options, const Rank &rank, int threads, RunOutputs &outputs)
      : table(table), options(options), rank(rank), outputs(outputs), model(table, threads, rank),
        program(model.program(options.program)) {
    if (!options.inputs.empty())
      inputs.emplace(options.inputs);
  }

  void run();

private:
  template <class T> Slot slotOf(const T &t, std::string name, int64_t extent = 0) const;
  RunOutputs::Part next(const Slot &slot, const std::byte *memory) {
    return {rank.number, added++, slot.piece, slot.where, memory};
  }
  // Each function fills the rank's part. `fillFromFile` returns whether the file has the tensor.
  bool fillFromFile(const Slot &slot, std::byte *memory) const;
  void fillRandom(const Slot &slot, float low, std::byte *memory) const;
  void clear(const Slot &slot, std::byte *memory) const;
  bool holdsParameter(const br_tensor &tensor) const;
  void fillTensor(const br_tensor &tensor, std::byte *memory) const;
  void fillTensors();
  void fillInputs();

  const br_model &table;
  const RunOptions &options;
  const Rank &rank;
  RunOutputs &outputs;
  Model model;
  const br_program &program;
  std::optional<CheckedFile> inputs;
  size_t added = 0;
};

template <class T> Slot Runner::slotOf(const T &t, std::string name, int64_t extent) const {
  GroupPlace term = placeInGroup(table, t.partial, rank.number);
  const int64_t bound = extent > 0 ? extent : table.vocab_size > 0 ? table.vocab_size : 2;
  return {{std::move(name), t.dtype, {t.shape, t.shape + t.rank}, term.size},
          partOf(table, t, rank.number),
          term.index,
          bound};
}

bool Runner::fillFromFile(const Slot &slot, std::byte *memory) const {
  const OutputTensor &tensor = slot.tensor;
  const TensorEntry *entry = inputs ? inputs->tensors().find(tensor.name) : nullptr;
  if (!entry)
    return false;
  if (entry->dtype != typeName(tensor.dtype) || entry->shape != tensor.shape)
    fail("'", options.inputs, "' has '", tensor.name, "' as ", entry->dtype, " ", formatShape(entry->shape),
         ", but the program takes ", typeName(tensor.dtype), " ", formatShape(tensor.shape));
  PieceReader().read({*inputs, *entry, wholeTensor(tensor.shape)}, slot.where, tensor.dtype, memory);
  return true;
}

// Fills with floats in [low, 1), integers in [0, bound), or codes of such floats.
void Runner::fillRandom(const Slot &slot, float low, std::byte *memory) const {
  const br_dtype dtype = slot.tensor.dtype;
  const uint32_t stream = hashOf(slot.tensor.name);
  forEachRun(slot.where, wholeTensor(slot.tensor.shape), [&](const Run &run) {
    for (int64_t i = 0; i < run.count; ++i) {
      PhiloxWords words = philoxAt(run.otherPlace + i * run.otherStep, 0, stream, options.seed);
      double value = low + (1 - low) * static_cast<float>(words[0] >> 8) * 0x1p-24f;
      if (dtype == BR_I32 || dtype == BR_I64)
        value = static_cast<double>(boundedRandom(words, slot.bound));
      if (dtype == BR_I8)
        value = 127 * std::sqrt(std::sqrt(std::abs(value)));
      if (dtype == BR_I1)
        value = words[0] & 1;
      putNumber(dtype, memory + (run.place + i * run.step) * elementSize(dtype), value);
    }
  });
}

void Runner::clear(const Slot &slot, std::byte *memory) const {
  const int64_t size = elementSize(slot.tensor.dtype);
  forEachRun(slot.where, slot.where, [&](const Run &run) {
    for (int64_t i = 0; i < run.count; ++i)
      std::memset(memory + (run.place + i * run.step) * size, 0, size);
  });
}

// Whether the tensor is a parameter or other tensors are copies of it.
bool Runner::holdsParameter(const br_tensor &t) const {
  auto isCopy = [&](const br_tensor &other) { return other.copy_of && std::string_view(other.copy_of) == t.name; };
  auto tensors = tensorsOf(table);
  return t.category == BR_PARAMETERS || std::any_of(tensors.begin(), tensors.end(), isCopy);
}

void Runner::fillTensor(const br_tensor &t, std::byte *memory) const {
  std::memset(memory, 0, t.bytes); // clears the padding, too
  Slot slot = slotOf(t, t.name);
  // Optimizer state holds means of squares, so it gets no negative numbers.
  if (!fillFromFile(slot, memory)) {
    // A copy gets the values of the tensor that it copies.
    if (t.copy_of)
      slot.tensor.name = t.copy_of;
    fillRandom(slot, holdsParameter(t) ? -1.0f : 0.0f, memory);
  }
  // In a partial sum, the first term holds the whole value.
  if (slot.piece > 0)
    clear(slot, memory);
}

void Runner::fillTensors() {
  for (const br_tensor &t : tensorsOf(table))
    model.onHost(t, Use::Write, [&](std::byte *memory) { fillTensor(t, memory); });
  for (const br_tensor &t : tensorsOf(table))
    model.onHost(t, Use::Read, [&](const std::byte *memory) {
      const Slot slot = slotOf(t, t.name);
      outputs.add(slot.tensor, next(slot, memory));
    });
}

void Runner::fillInputs() {
  model.setLearningRate(program, 0.01f);
  model.setStep(program, 1);
  model.setKey(program, options.seed, 1, 0);
  model.setPosition(program, 0);
  for (const br_io &io : inputsOf(program)) {
    Slot slot = slotOf(io, io.name, io.extent);
    const std::string_view role = io.role;
    std::byte *memory = model.input<std::byte>(program, io);
    const bool given = fillFromFile(slot, memory);
    if (given)
      checkIndices(inputs->tensors(), io);
    if (!given && role != "stop" && !isScalarRole(role))
      fillRandom(slot, -1, memory);
    if (slot.piece > 0 || (!given && role == "stop"))
      clear(slot, memory);
    outputs.add(slot.tensor, next(slot, memory));
  }
}

void Runner::run() {
  fillTensors();
  fillInputs();
  model.run(program);
  for (const br_io &io : resultsOf(program)) {
    Slot slot = slotOf(io, *io.role ? io.role : io.name);
    model.onHost(io, Use::Read, [&](const std::byte *memory) { outputs.addResult(slot.tensor, next(slot, memory)); });
  }
  for (const br_tensor &t : tensorsOf(table)) {
    Slot slot = slotOf(t, concat("updates ", t.name));
    model.onHost(t, Use::Read,
                 [&](const std::byte *memory) { outputs.addUpdate(slot.tensor, next(slot, memory), t.name); });
  }
  model.finish();
  if (outputs.finish(options.outputs))
    std::printf("ran %s; its tensors are in %s\n", program.name, options.outputs.c_str());
}

} // namespace

static int runOnce(const br_model &table, const RunOptions &options, const Rank &rank, int threads,
                   RunOutputs &outputs) {
  if (rank.size != outputs.ranksHere())
    fail("`run` puts the tensors of all ranks into one file, so they must be threads of one process, but ", rank.size,
         " ranks run in several; start it once, with --ranks ", rank.size);
  Runner(table, options, rank, threads, outputs).run();
  return 0;
}

PreparedCommand braid::prepareRun(const br_model &table, const RunOptions &options, RunOutputs &outputs) {
  StartFacts facts = {{"the command", "run"}, {"--program", options.program}, {"--seed", std::to_string(options.seed)}};
  return {facts, [&](const Rank &rank, int threads) { return runOnce(table, options, rank, threads, outputs); }};
}
