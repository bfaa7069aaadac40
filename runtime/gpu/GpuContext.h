//===- GpuContext.h - a model that runs on a GPU --------------------------===//
//
// Programs are queued: their host code puts kernels, matmuls and collectives on streams and
// returns.  Only reads of results wait for the device.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_GPUCONTEXT_H
#define BRAID_GPU_GPUCONTEXT_H

#include "core/Context.h"
#include "gpu/ActionEvents.h"
#include "gpu/ArenaCopies.h"
#include "gpu/Attention.h"
#include "gpu/DeviceArena.h"
#include "gpu/DeviceCollectives.h"
#include "gpu/HostMemory.h"
#include "gpu/Matmul.h"
#include "gpu/MatmulStart.h"
#include "gpu/PinnedSlots.h"
#include "gpu/StepGraph.h"
#include "gpu/Watchdog.h"

namespace braid {

class GpuContext final : public br_context {
public:
  // One thread at a time uses the context.
  GpuContext(const br_model &model, int threads, const Rank &rank);
  ~GpuContext() override;

  std::byte *arena() override { return memory.data(); }
  std::byte *hostArena() override { return nullptr; }
  std::byte *hostMemory() override;
  void read(uint64_t offset, void *to, uint64_t bytes) override;
  void write(uint64_t offset, const void *from, uint64_t bytes) override;
  void zero(uint64_t offset, uint64_t bytes) override;
  void expect(uint64_t offset, uint64_t bytes) override;

  void run(const br_program &program) override;
  int runsAhead() const override;
  void enterThread() override;
  void finish() override;
  std::byte *input(const br_program &program, const br_io &io) override { return slots.input(program, io); }
  const std::byte *result(const br_program &program, const br_io &io, int back) override;

  void matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) override;
  void attention(int32_t index, const AttentionPlaces &places) override;
  void action(int32_t index) override;
  br_status start(int32_t collective) override;
  br_status wait(int32_t collective) override;
  void prepareMessage() override { slots.settle(errors); }
  void checkMessage(br_status status) override;
  br_status startTransfer(int32_t transfer) override;
  br_status waitForTransfer(int32_t transfer) override;

  std::vector<std::string> remarks() const override;
  std::vector<std::string> warnings() const override;

  // Calls from generated code, through the vendor's C functions (cuda/braid_cuda.h).
  const GpuStream &stream() const { return streams.compute; }
  bool beginsEarly() const { return overlapsKernels && isBehindKernel; }
  void launched(int error, const void *kernel);
  void called(const GpuStatus &status);
  const br_matmul_rest *matmulRest() const { return matmuls.rest(); }
  br_status status() const { return errors.any() ? BR_ERROR : BR_OK; }

private:
  void chooseMatmuls();
  bool usesGraphs() const;
  bool canOverlapKernels() const;
  std::string describeGraphs() const;
  br_status launch(const br_program &program);
  GpuStatus replay(const GpuGraph &graph);
  [[noreturn]] void failNow();
  void waitFor(const GpuEvent &event);
  void measure();
  br_comm *hostComm() const { return collectives ? collectives->hostComm() : nullptr; }
  bool isMeasured() const { return rank.profile || rank.trace; }
  void writeProfile();

  Watchdog watchdog; // destroyed last: outlives everything that may block
  Device device;
  ProgramErrors errors;
  Streams streams;
  DeviceArena memory;
  ArenaCopies copies;
  std::optional<HostMemory> hostTensors; // none if the plan keeps nothing on the host
  MatmulTable matmuls;
  MatmulStart matmulStart;
  AttentionTable attentions;
  PinnedSlots slots;
  std::vector<StepGraph> graphs; // one for each program; empty if programs are launched without graphs
  std::optional<Profile> profile;
  std::optional<Trace> trace;
  std::optional<ActionEvents> events; // clock of profile and trace
  // `overlapsKernels`: kernels may begin before the previous kernel of the program ends.
  // `isBehindKernel`: the last work on the compute stream is a kernel.
  const bool overlapsKernels;
  bool isBehindKernel = false;
  std::unique_ptr<DeviceCollectives> collectives; // null if the model has no collectives
};

} // namespace braid
#endif // BRAID_GPU_GPUCONTEXT_H
