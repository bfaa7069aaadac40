//===- DeferredTarget.cpp - a target that does nothing before it must -----===//

#include "DeferredTarget.h"

#include "core/Model.h"
#include "cpu/CpuContext.h"

#include <cstring>
#include <deque>
#include <map>

using namespace braid;

int braid::test::lateResults = 0;

namespace {

class DeferredContext final : public br_context {
public:
  DeferredContext(const br_model &model, int threads, const Rank &rank)
      : br_context(model, threads, rank), inner(model, threads, rank) {}

  std::byte *arena() override { return inner.arena(); }
  std::byte *hostArena() override { return nullptr; }
  void read(uint64_t offset, void *to, uint64_t bytes) override {
    runAll();
    inner.read(offset, to, bytes);
  }
  void write(uint64_t offset, const void *from, uint64_t bytes) override {
    runAll();
    inner.write(offset, from, bytes);
  }
  void zero(uint64_t offset, uint64_t bytes) override {
    runAll();
    inner.zero(offset, bytes);
  }
  void run(const br_program &program) override { queue.push_back({&program, stateOf(program).started++}); }
  int runsAhead() const override { return 1; }
  std::byte *input(const br_program &program, const br_io &io) override {
    State &state = stateOf(program);
    runUntil(program, state.started - 2); // had the same place
    return state.place(io, state.started);
  }
  const std::byte *result(const br_program &program, const br_io &io, int back) override {
    State &state = stateOf(program);
    test::lateResults += back;
    runUntil(program, state.started - 1 - back);
    return state.place(io, state.started - 1 - back);
  }
  void matmul(int32_t index, const void *a, const void *b, void *c, const void *bias, const void *addend) override {
    inner.matmul(index, a, b, c, bias, addend);
  }
  br_status start(int32_t collective) override { return inner.start(collective); }
  br_status wait(int32_t collective) override { return inner.wait(collective); }

private:
  struct State {
    std::map<const br_io *, std::vector<std::byte>> places[2];
    int64_t started = 0, done = 0;

    std::byte *place(const br_io &io, int64_t run) {
      std::vector<std::byte> &memory = places[run % 2][&io];
      memory.resize(io.bytes);
      return memory.data();
    }
  };
  struct Queued {
    const br_program *program;
    int64_t run;
  };
  State &stateOf(const br_program &program) { return states[&program]; }

  void runNext() {
    const auto [program, run] = queue.front();
    queue.pop_front();
    State &state = stateOf(*program);
    for (const br_io &io : inputsOf(*program))
      inner.write(io.offset, state.place(io, run), io.bytes);
    program->run(this);
    for (const br_io &io : resultsOf(*program))
      inner.read(io.offset, state.place(io, run), io.bytes);
    ++state.done;
  }
  void runUntil(const br_program &program, int64_t run) {
    while (stateOf(program).done <= run)
      runNext();
  }
  void runAll() {
    while (!queue.empty())
      runNext();
  }

  CpuContext inner;
  std::map<const br_program *, State> states;
  std::deque<Queued> queue;
};

} // namespace

br_model braid::test::deferred(const br_model &model) {
  registerTarget("deferred", [](const br_model &table, int threads, const Rank &rank) -> std::unique_ptr<br_context> {
    return std::make_unique<DeferredContext>(table, threads, rank);
  });
  br_model other = model;
  other.target = "deferred";
  return other;
}
