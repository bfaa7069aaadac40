//===- Profile.cpp - how long the actions of programs take ----------------===//

#include "cuda/Profile.h"

#include "base/File.h"
#include "cuda/MatmulSearch.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <nvtx3/nvToolsExt.h>

using namespace braid;

Profile::Profile(const br_model &model, cudaStream_t stream, const std::string &path)
    : stream(stream), path(path), first(model.programs) {
  if (!path.empty())
    File::openForAppending(path); // or throws
  for (int32_t i = 0; i < model.n_programs; ++i) {
    Program &program = programs.emplace_back();
    program.program = &model.programs[i];
    program.milliseconds.resize(model.programs[i].n_actions);
    program.matmuls.resize(model.programs[i].n_actions, -1);
  }
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

void Profile::enter(const br_program &program, const Wait &wait) {
  current = &programs[&program - first];
  Marks &marks = current->marks[current->started % 2];
  collect(*current, marks, wait);
  marks.run = current->started;
  // Nothing may throw while the program runs.
  while (marks.events.size() <= current->milliseconds.size())
    marks.events.emplace_back(Event::Kind::Timed);
  marks.actions.reserve(current->milliseconds.size());
  nvtxRangePushA(program.name);
}

void Profile::mark(int32_t action, ProgramErrors &errors) {
  Marks &marks = current->marks[current->started % 2];
  errors.note(cudaEventRecord(marks.events[marks.count++], stream), "cudaEventRecord");
  if (action >= 0)
    marks.actions.push_back(action);
  if (inRange)
    nvtxRangePop();
  inRange = action >= 0;
}

void Profile::at(int32_t action, ProgramErrors &errors) {
  const size_t marked = current->marks[current->started % 2].count;
  if (action < 0 || action >= current->program->n_actions || marked == current->milliseconds.size())
    return;
  mark(action, errors);
  nvtxRangePushA(current->program->actions[action]);
}

void Profile::runsMatmul(int32_t matmul) {
  const Marks &marks = current->marks[current->started % 2];
  if (!marks.actions.empty())
    current->matmuls[marks.actions.back()] = matmul;
}

void Profile::leave(ProgramErrors &errors) {
  mark(-1, errors);
  nvtxRangePop();
  ++current->started;
}

// Adds up what a run has recorded, and makes room for another.
void Profile::collect(Program &program, Marks &marks, const Wait &wait) {
  if (marks.count == 0)
    return;
  wait(marks.events[marks.count - 1]);
  if (marks.run > 0 || program.started == 1) { // the first counts where it is the only one
    for (size_t i = 0; i + 1 < marks.count; ++i) {
      float time = 0;
      checkCuda(cudaEventElapsedTime(&time, marks.events[i], marks.events[i + 1]), "cudaEventElapsedTime");
      program.milliseconds[marks.actions[i]] += time;
      program.total += time;
    }
    ++program.measured;
  }
  marks.count = 0;
  marks.actions.clear();
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

void Profile::write(const Wait &wait, const std::vector<MatmulTrial> &matmuls) {
  for (Program &program : programs)
    for (Marks &marks : program.marks)
      collect(program, marks, wait);
  if (!path.empty())
    writeJson(matmuls);
  else
    print();
}

// The actions that take longest, and how much of all they are.
void Profile::print() const {
  constexpr size_t most = 30;
  for (const Program &program : programs) {
    if (program.measured == 0)
      continue;
    const double runs = static_cast<double>(program.measured);
    std::printf("program %s: %.3f ms a run, mean of %lld\n", program.program->name, program.total / runs,
                static_cast<long long>(program.measured));
    std::vector<size_t> order(program.milliseconds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return program.milliseconds[a] > program.milliseconds[b]; });
    for (size_t i = 0; i < std::min(order.size(), most); ++i)
      std::printf("  %9.3f ms %5.1f%%  %4zu  %s\n", program.milliseconds[order[i]] / runs,
                  program.total > 0 ? 100 * program.milliseconds[order[i]] / program.total : 0, order[i],
                  program.program->actions[order[i]]);
  }
}

void Profile::writeJson(const std::vector<MatmulTrial> &matmuls) {
  nlohmann::ordered_json measured = nlohmann::ordered_json::array();
  for (const Program &program : programs) {
    if (program.measured == 0)
      continue;
    const double runs = static_cast<double>(program.measured);
    nlohmann::ordered_json actions = nlohmann::ordered_json::array();
    for (size_t i = 0; i < program.milliseconds.size(); ++i) {
      actions.push_back({{"name", program.program->actions[i]}, {"seconds", program.milliseconds[i] / runs / 1000}});
      if (program.matmuls[i] >= 0)
        actions.back()["product"] = program.matmuls[i];
    }
    measured.push_back({{"program", program.program->name},
                        {"runs", program.measured},
                        {"seconds", program.total / runs / 1000},
                        {"actions", actions}});
  }
  const nlohmann::ordered_json root = {{"programs", measured}, {"products", jsonOfSearch(matmuls)}};
  const std::string text = root.dump(1) + "\n";
  File::createForWriting(path).write(text.data(), text.size());
}
