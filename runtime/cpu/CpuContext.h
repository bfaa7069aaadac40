//===- CpuContext.h - a model on the host ---------------------------------===//
//
// The arena is process memory, oneDNN runs the matmuls, and collectives run on the rank's communication
// thread.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_CPUCONTEXT_H
#define BRAID_CPU_CPUCONTEXT_H

#include "core/Arena.h"
#include "core/Collectives.h"
#include "core/Context.h"
#include "core/Measurement.h"
#include "cpu/Matmul.h"

namespace braid {

class CpuContext final : public br_context {
public:
  CpuContext(const br_model &model, int threads, const Rank &rank = {});

  std::byte *arena() override { return memory.data(); }
  std::byte *hostArena() override { return memory.data(); }
  void read(uint64_t offset, void *to, uint64_t bytes) override;
  void write(uint64_t offset, const void *from, uint64_t bytes) override;
  void zero(uint64_t offset, uint64_t bytes) override;
  void run(const br_program &program) override;
  std::byte *input(const br_program &, const br_io &io) override { return memory.data() + io.offset; }
  const std::byte *result(const br_program &, const br_io &io, int) override { return memory.data() + io.offset; }
  void matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) override;
  void enterThread() override;
  void finish() override;
  bool isMeasured() const override { return measurement != nullptr; }
  void action(int32_t index) override { measurement->at(index); }
  br_status start(int32_t collective) override;
  br_status wait(int32_t collective) override { return collectives.wait(collectiveOfMicrobatch(collective)); }
  std::vector<std::string> warnings() const override;

  // Returns why a start or a wait failed.
  const char *error() const { return collectives.error(); }

  // Describes how matmuls run, for messages.
  const MatmulTable &matmulTable() const { return matmuls; }

private:
  Arena memory;
  MatmulTable matmuls;
  Collectives collectives;
  std::unique_ptr<Measurement> measurement; // null if no measurement was requested
};

} // namespace braid
#endif // BRAID_CPU_CPUCONTEXT_H
