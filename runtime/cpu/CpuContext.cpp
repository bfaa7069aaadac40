//===- CpuContext.cpp - a model on the host -------------------------------===//

#include "cpu/CpuContext.h"

#include "base/Error.h"
#include "cpu/MatmulLoops.h"
#include "cpu/MeasureRates.h"
#include "host/Threads.h"

#include <algorithm>
#include <cstring>

using namespace braid;

namespace {

bool hasBFloat16Matmuls(const br_model &model) {
  return std::any_of(model.matmuls, model.matmuls + model.n_matmuls,
                     [](const br_matmul_desc &d) { return d.a.type == BR_BF16; });
}

} // namespace

CpuContext::CpuContext(const br_model &model, int threads, const Rank &rank)
    : br_context(model, threads, rank), memory(model.arena_bytes, threads), matmuls(model, threads, memory.data()),
      collectives(withCollectives(), memory.data(), rank), measurement(Measurement::of(model, rank, collectives)) {
  if (model.n_attentions > 0)
    fail("model '", model.name,
         "' calls a library for attention, but the cpu target has none; compile it "
         "with --attention=decompose");
}

void CpuContext::read(uint64_t offset, void *to, uint64_t bytes) { std::memcpy(to, memory.data() + offset, bytes); }
void CpuContext::write(uint64_t offset, const void *from, uint64_t bytes) {
  std::memcpy(memory.data() + offset, from, bytes);
}
void CpuContext::zero(uint64_t offset, uint64_t bytes) { parallelZero(memory.data() + offset, bytes, threads); }

void CpuContext::run(const br_program &program) {
  if (measurement)
    measurement->enter(program);
  if (program.run(this) != BR_OK)
    throw RankError(collectives.error());
  if (measurement)
    measurement->leave();
}

void CpuContext::finish() {
  if (measurement)
    measurement->write([&] { return measureRates(threads, hasBFloat16Matmuls(model) && multipliesBFloat16()); });
}

br_status CpuContext::start(int32_t collective) {
  const int32_t now = collectiveNow(collective);
  const br_status status = collectives.start(now);
  if (measurement && status == BR_OK)
    measurement->started(collectives.ticketOf(now));
  return status;
}

void CpuContext::matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *) {
  matmuls.run(index, a, b, c, bias);
}

std::vector<std::string> CpuContext::warnings() const {
  std::vector<std::string> texts;
  if (hasBFloat16Matmuls(model) && !multipliesBFloat16Fast())
    // Measured on steps of the small GPT, on a processor with these instructions disabled.
    texts.push_back(concat("this processor has neither avx512_bf16 nor amx: expect a step in bf16 to take about ",
                           multipliesBFloat16() ? "four" : "forty",
                           " times as long as in f32; compile with --precision=f32 to be faster here"));
  for (int32_t i = 0; i < model.n_matmuls; ++i)
    if (matmuls.isSlow(i))
      texts.push_back(concat("matmul ", i, " (", model.matmuls[i].m, " x ", model.matmuls[i].n, " x ",
                             model.matmuls[i].k,
                             ") has a layout for which oneDNN has only reference loops; it will be slow"));
  return texts;
}

void br_use_cpu(void) {
  registerTarget("cpu", [](const br_model &model, int threads, const Rank &rank) -> std::unique_ptr<br_context> {
    return std::make_unique<CpuContext>(model, threads, rank);
  });
}
