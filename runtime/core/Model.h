//===- Model.h - a compiled model, loaded ---------------------------------===//
//
// Wraps the table that the compiler wrote.  Checks it once, allocates the arena, and gives the
// training loop inputs and results by role instead of by offset.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_MODEL_H
#define BRAID_CORE_MODEL_H

#include "braid_rt.h"
#include "core/Context.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace braid {

inline std::span<const br_tensor> tensorsOf(const br_model &m) { return {m.tensors, static_cast<size_t>(m.n_tensors)}; }
inline std::span<const br_io> inputsOf(const br_program &p) { return {p.ios, static_cast<size_t>(p.n_inputs)}; }
inline std::span<const br_io> resultsOf(const br_program &p) {
  return {p.ios + p.n_inputs, static_cast<size_t>(p.n_results)};
}

// Return null if the model or program has none with that name or role.
const br_program *findProgram(const br_model &model, std::string_view name);
const br_tensor *findTensor(const br_model &model, std::string_view name);
// Returns the loss that a program reports. Throws Error if there is none, or if it is not f32.
const br_io &lossOf(const br_program &program);
const br_io *findByRole(std::span<const br_io> ios, std::string_view role);

// How the host uses a part of the arena.  f gets the part itself if it is in host memory; otherwise
// it gets a copy, which is read before and written back after the call.  Write must set every byte,
// because the old content is lost; Update may set some.
enum class Use { Read, Write, Update };

// Calls f(std::byte *memory) on `bytes` bytes from `offset`.  If f throws, an arena on a device
// stays unchanged.
template <class F> void onHost(br_context &context, uint64_t offset, uint64_t bytes, Use use, const F &f) {
  if (std::byte *arena = context.hostArena())
    return f(arena + offset);
  const std::unique_ptr<std::byte[]> copy(new std::byte[bytes]);
  if (use != Use::Write)
    context.read(offset, copy.get(), bytes);
  f(copy.get());
  if (use != Use::Read)
    context.write(offset, copy.get(), bytes);
}

// Returns the model; throws Error if this runtime cannot run its table here.
const br_model &checked(const br_model &model);

class Model {
public:
  // Throws Error if this runtime cannot run the table here.
  Model(const br_model &table, int threads, const Rank &rank = {});

  const br_model &table() const { return model; }
  // Whether rows of a batch may be missing; the loss then covers the other rows.
  bool canLackRows() const { return model.loss && model.loss->rows != 0; }
  uint64_t arenaBytes() const { return model.arena_bytes; }
  // Bytes of host memory beside the arena.
  uint64_t hostBytes() const { return model.host_bytes; }
  int threads() const { return context->threads; }
  // Messages about the device, and warnings about unexpected slowness.
  std::vector<std::string> remarks() const { return context->remarks(); }
  std::vector<std::string> warnings() const { return context->warnings(); }

  // Returns the program of that name; throws Error if the model has none.
  const br_program &program(std::string_view name) const;

  const Rank &rank() const { return context->rank; }

  // First byte of the arena, in the target's memory; and of the host memory beside it.
  std::byte *arena() const { return context->arena(); }
  std::byte *hostMemory() const { return context->hostMemory(); }

  // Throws Error if the program fails.  The program may still be running on return.
  void run(const br_program &program) { context->run(program); }
  // Later runs, starts and waits use the slots of this microbatch.
  void useSlotsOf(int32_t microbatch) { context->useSlotsOf(microbatch); }
  // Start and wait for a message of a pipeline, by its index in br_model.collectives.  Throw
  // RankError if it fails.
  void startMessage(int32_t collective) {
    context->prepareMessage();
    context->checkMessage(context->start(collective));
  }
  void waitForMessage(int32_t collective) { context->checkMessage(context->wait(collective)); }
  // Called by a thread that uses the model after another one has.
  void enterThread() { context->enterThread(); }
  // Called after the last run of a command.
  void finish() { context->finish(); }
  // Number of runs that may follow a run before its results are read.
  int runsAhead() const { return context->runsAhead(); }

  // Returns where to write an input of the next run; every run needs all of its inputs anew.
  template <class T> T *input(const br_program &program, const br_io &io) const {
    return reinterpret_cast<T *>(context->input(program, io));
  }
  // Returns a scalar result of the program's last run, or of the run `back` runs before it, up to
  // runsAhead().
  template <class T> T result(const br_program &program, const br_io &io, int back = 0) const {
    return *reinterpret_cast<const T *>(context->result(program, io, back));
  }

  // Calls f(std::byte *) on the memory of a tensor, or of a result of the last run.
  template <class Part, class F> void onHost(const Part &part, Use use, const F &f) const {
    if constexpr (std::is_same_v<Part, br_tensor>)
      if (part.on_host)
        return f(context->hostMemory() + part.offset);
    braid::onHost(*context, part.offset, part.bytes, use, f);
  }

  // Zeros a tensor in place, without a copy to a device.
  void zero(const br_tensor &tensor) const;
  // Announces the next tensor to read, so that its copy from a device can begin.
  void expect(const br_tensor &tensor) const;

  // Set run-time scalars; programs that do not take them ignore them.
  void setLearningRate(const br_program &p, float lr) const;
  void setStep(const br_program &p, int64_t step) const;
  void setKey(const br_program &p, uint64_t seed, int64_t step, int microbatch) const;
  void setPosition(const br_program &p, int32_t position) const;

private:
  const br_model &model;
  std::unique_ptr<br_context> context;
};

// Whether the training loop fills inputs of this role itself.
bool isScalarRole(std::string_view role);

} // namespace braid
#endif // BRAID_CORE_MODEL_H
