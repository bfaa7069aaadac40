//===- Model.cpp - a compiled model, loaded -------------------------------===//

#include "core/Model.h"

#include "base/CpuFeatures.h"
#include "base/Error.h"
#include "base/NumberTypes.h"
#include "host/Threads.h"

#include <algorithm>

using namespace braid;

const br_program *braid::findProgram(const br_model &model, std::string_view name) {
  for (int32_t i = 0; i < model.n_programs; ++i)
    if (model.programs[i].name == name)
      return &model.programs[i];
  return nullptr;
}

const br_tensor *braid::findTensor(const br_model &model, std::string_view name) {
  for (const br_tensor &tensor : tensorsOf(model))
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

const br_io &braid::lossOf(const br_program &program) {
  const br_io *loss = findByRole(resultsOf(program), "loss");
  if (!loss)
    fail("program '", program.name, "' reports no result of role 'loss'");
  if (loss->dtype != BR_F32)
    fail("the loss of program '", program.name, "' is ", nameOf(loss->dtype),
         "; convert it to f32 in the graph, by tg.convert");
  return *loss;
}

const br_io *braid::findByRole(std::span<const br_io> ios, std::string_view role) {
  auto at = std::find_if(ios.begin(), ios.end(), [&](const br_io &io) { return io.role == role; });
  return at == ios.end() ? nullptr : &*at;
}

bool braid::isScalarRole(std::string_view role) {
  return role == "lr" || role == "step" || role == "key" || role == "position" || role == "stop";
}

namespace {

void checkWithin(uint64_t size, const char *memory, uint64_t offset, uint64_t bytes, const char *what,
                 const char *name) {
  if (offset > size || bytes > size - offset)
    fail("the compiled model is broken: ", what, " '", name, "' at bytes [", offset, ", ", offset + bytes,
         ") lies outside the ", memory, " of ", size, " bytes; compile it again");
}

void checkRange(const br_model &model, uint64_t offset, uint64_t bytes, const char *what, const char *name) {
  checkWithin(model.arena_bytes, "arena", offset, bytes, what, name);
}

void checkHostRange(const br_model &model, uint64_t offset, uint64_t bytes, const char *what, const char *name) {
  checkWithin(model.host_bytes, "host's memory", offset, bytes, what, name);
}

void checkTransfers(const br_model &model) {
  if (model.host_bytes > 0 && !isForDevice(model))
    fail("the compiled model is broken: it has ", model.host_bytes,
         " bytes of the host's memory beside its arena, but the arena is in that memory; compile it again");
  for (int32_t i = 0; i < model.n_transfers; ++i)
    for (int32_t k = 0; k < model.transfers[i].n_parts; ++k) {
      const br_transfer_part &part = model.transfers[i].parts[k];
      const std::string name = concat(i, ", part ", k);
      checkRange(model, part.device, part.bytes, "transfer", name.c_str());
      checkHostRange(model, part.host, part.bytes, "transfer", name.c_str());
    }
}

// Checks a run-time scalar, whose type is part of the ABI.
void checkScalar(const br_io &io) {
  std::string_view role = io.role;
  br_dtype type = role == "lr" || role == "stop" ? BR_F32 : BR_I32;
  uint64_t bytes = role == "key" ? 16 : 4;
  if (isScalarRole(role) && (io.dtype != type || io.bytes != bytes))
    fail("the compiled model is broken: input '", io.name, "' of role '", io.role, "' is ", typeName(io.dtype), " in ",
         io.bytes, " bytes, not ", typeName(type), " in ", bytes, "; compile it again");
}

// Checks the targets: the runtime writes them for the missing rows of a short batch.
void checkLoss(const br_loss &loss, const br_program &program) {
  for (const br_io &io : inputsOf(program))
    if (std::string_view(io.name) == loss.targets && (io.dtype != BR_I32 || io.rank < 1))
      fail("the compiled model is broken: input '", io.name, "' of program '", program.name,
           "' holds the targets of the loss, but is not i32 with a row for each of the batch; compile it again");
}

// Checks that a copy has the shape of its master, which may be sharded differently.
void checkCopy(const br_model &model, const br_tensor &copy) {
  const br_tensor *master = findTensor(model, copy.copy_of);
  if (!master)
    fail("the compiled model is broken: tensor '", copy.name, "' is a copy of '", copy.copy_of,
         "', which it lacks; compile it again");
  if (!std::equal(copy.shape, copy.shape + copy.rank, master->shape, master->shape + master->rank))
    fail("the compiled model is broken: tensor '", copy.name, "' is a copy of '", master->name,
         "', which has another shape; compile it again");
}

} // namespace

// Checks that all programs, collectives and microbatches of cells exist.
static void checkCells(const br_model &model) {
  for (int32_t i = 0; i < model.n_slots; ++i)
    for (int32_t m = 0; m < model.slots[i].n_microbatches; ++m)
      if (model.slots[i].of_microbatch[m] < 0 || model.slots[i].n_microbatches != model.accumulate)
        fail("the compiled model is broken: its slots do not fit ", model.accumulate,
             " microbatches; compile it again");
  for (int32_t i = 0; i < model.n_cells; ++i) {
    const br_cell &cell = model.cells[i];
    const int32_t end = cell.kind == BR_CELL_RUN ? model.n_programs : model.n_collectives;
    if (cell.index < 0 || cell.index >= end || cell.microbatch < 0 || cell.microbatch >= model.accumulate)
      fail("the compiled model is broken: cell ", i,
           " of its step runs a program or sends a buffer that does not exist; compile it again");
  }
}

const br_model &braid::checked(const br_model &model) {
  if (model.abi_version != BR_ABI_VERSION)
    fail("the model was compiled for version ", model.abi_version,
         " of the runtime's interface, but this runtime has version ", BR_ABI_VERSION, "; compile it again");
  checkCpuFeatures(model.cpu_features ? model.cpu_features : "");
  for (const br_tensor &t : tensorsOf(model))
    (t.on_host ? checkHostRange : checkRange)(model, t.offset, t.bytes, "tensor", t.name);
  checkTransfers(model);
  checkCells(model);
  for (const br_tensor &t : tensorsOf(model))
    if (t.copy_of)
      checkCopy(model, t);
  for (int32_t p = 0; p < model.n_programs; ++p) {
    const br_program &program = model.programs[p];
    for (int32_t i = 0; i < program.n_inputs + program.n_results; ++i)
      checkRange(model, program.ios[i].offset, program.ios[i].bytes, i < program.n_inputs ? "input" : "result",
                 program.ios[i].name);
    for (const br_io &io : inputsOf(program))
      checkScalar(io);
    if (model.loss)
      checkLoss(*model.loss, program);
  }
  return model;
}

Model::Model(const br_model &table, int threads, const Rank &rank)
    : model(checked(table)), context(makeContext(table, threads, rank)) {}

const br_program &Model::program(std::string_view name) const {
  if (const br_program *found = findProgram(model, name))
    return *found;
  fail("model '", model.name, "' was compiled without the program '", name, "', which this command runs");
}

void Model::zero(const br_tensor &tensor) const {
  if (tensor.on_host)
    return parallelZero(context->hostMemory() + tensor.offset, tensor.bytes, context->threads);
  context->zero(tensor.offset, tensor.bytes);
}

void Model::expect(const br_tensor &tensor) const {
  if (!tensor.on_host)
    context->expect(tensor.offset, tensor.bytes);
}

void Model::setLearningRate(const br_program &p, float lr) const {
  if (const br_io *io = findByRole(inputsOf(p), "lr"))
    *input<float>(p, *io) = lr;
}
void Model::setStep(const br_program &p, int64_t step) const {
  if (const br_io *io = findByRole(inputsOf(p), "step"))
    *input<int32_t>(p, *io) = static_cast<int32_t>(step);
}
void Model::setKey(const br_program &p, uint64_t seed, int64_t step, int microbatch) const {
  const br_io *io = findByRole(inputsOf(p), "key");
  if (!io)
    return;
  int32_t *key = input<int32_t>(p, *io);
  key[0] = static_cast<int32_t>(seed);
  key[1] = static_cast<int32_t>(seed >> 32);
  key[2] = static_cast<int32_t>(step);
  key[3] = microbatch;
}
void Model::setPosition(const br_program &p, int32_t position) const {
  if (const br_io *io = findByRole(inputsOf(p), "position"))
    *input<int32_t>(p, *io) = position;
}
