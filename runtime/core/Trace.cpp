//===- Trace.cpp - timeline of all ranks, by one clock --------------------===//

#include "core/Trace.h"

#include "base/Clock.h"
#include "base/Error.h"
#include "base/File.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

using namespace braid;
using Json = nlohmann::ordered_json;

Trace::Trace(const br_model &model, const std::string &path, int64_t steps, int rank)
    : path(path), steps(steps), rank(rank), model(model), runsOf(model.n_programs) {
  if (rank == 0)
    File::openForAppending(path); // throws if it is not writable
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

// Whether a run of this program ends a step.  The runs of `accumulate` and of a pipeline's cells
// belong to the step of the next `train`; runs of `agree` are the runtime's own.
bool Trace::endsStep(const br_program &program) const {
  const std::string_view name = program.name;
  const std::span cells(model.cells, model.n_cells);
  const bool isOfCell = std::any_of(cells.begin(), cells.end(), [&](const br_cell &cell) {
    return cell.kind == BR_CELL_RUN && &model.programs[cell.index] == &program;
  });
  return name != "accumulate" && name != "agree" && !isOfCell;
}

void Trace::add(const br_program &program, std::span<const TimedAction> actions) {
  runs.push_back({&program, {actions.begin(), actions.end()}});
  if (++runsOf[&program - model.programs] >= steps && endsStep(program) && recording && !actions.empty()) {
    recordedEnd = actions.back().end;
    recording = false;
  }
}

void Trace::started(br_ticket ticket, const br_program &program, int32_t action) {
  starts[ticket] = {&program, action};
}

void Trace::startedMessage(br_ticket ticket) { starts[ticket] = {nullptr, 0}; }

void Trace::ended(br_ticket ticket, double begin, double end) {
  if (!recording)
    return;
  std::lock_guard lock(mutex);
  ends.push_back({ticket, begin, end});
}

void Trace::add(const br_program &program, int32_t action, double ready, double end) {
  timed.push_back({&program, action, ready, end});
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

// Lanes of a rank in the trace.
enum Lane { Computation, Communication };

// Writes the events of a rank, one a line.
class EventWriter {
public:
  EventWriter(int rank, double zero) : rank(rank), zero(zero) {}

  void name(const char *what, const std::string &name, int lane) {
    add({{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", lane}, {"args", {{"name", name}}}});
  }
  void span(const std::string &name, Lane lane, double begin, double end, const char *category, Json args) {
    Json event = {{"ph", "X"},
                  {"name", name},
                  {"cat", category},
                  {"pid", rank},
                  {"tid", lane},
                  {"ts", microseconds(begin - zero)},
                  {"dur", microseconds(end - begin)}};
    if (!args.empty())
      event["args"] = std::move(args);
    add(event);
  }
  std::string text;

private:
  // Rounds to a nanosecond.
  static double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }
  void add(const Json &event) {
    text += (text.empty() ? "" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const int rank;
  const double zero;
};

// Returns the name without the source location: "matmul -> h.0.mlp [256 x 3072]".
std::string shortName(const br_action_desc &action) {
  const std::string_view name = action.name;
  return std::string(name.substr(0, name.find(';')));
}

Json factsOf(const br_action_desc &action) {
  Json args = {{"action", action.name}, {"kernel", action.kernel}};
  if (action.unit)
    args["unit"] = action.unit;
  if (const double flops = action.matrix_flops + action.vector_flops; flops > 0)
    args["flops"] = flops;
  if (action.bytes > 0)
    args["bytes"] = action.bytes;
  return args;
}

const char *categoryOf(const br_action_desc &action) { return action.phase ? action.phase : action.op; }

} // namespace

// Sorts runs by begin, and removes overlaps: times of a device arrive late, and its start is exact
// only to a few microseconds.
std::vector<Trace::Run> Trace::runsInOrder() const {
  std::vector<Run> inOrder;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(inOrder),
               [&](const Run &run) { return !run.actions.empty() && run.actions.front().begin < recordedEnd; });
  std::stable_sort(inOrder.begin(), inOrder.end(),
                   [](const Run &a, const Run &b) { return a.actions.front().begin < b.actions.front().begin; });
  double last = -std::numeric_limits<double>::infinity();
  for (Run &run : inOrder) {
    const double late = std::max(last - run.actions.front().begin, 0.0);
    for (TimedAction &action : run.actions) {
      action.begin += late;
      action.end += late;
    }
    last = run.actions.back().end;
  }
  return inOrder;
}

std::vector<Trace::Operation> Trace::operationsInOrder() const {
  std::vector<Operation> inOrder = timed;
  {
    std::lock_guard lock(mutex);
    for (const Ended &one : ends)
      if (auto start = starts.find(one.ticket); start != starts.end())
        inOrder.push_back({start->second.first, start->second.second, one.begin, one.end});
  }
  std::erase_if(inOrder, [&](const Operation &operation) { return operation.begin >= recordedEnd; });
  std::stable_sort(inOrder.begin(), inOrder.end(),
                   [](const Operation &a, const Operation &b) { return a.end < b.end; });
  double last = -std::numeric_limits<double>::infinity();
  for (Operation &operation : inOrder) {
    operation.begin = std::max(operation.begin, last);
    last = operation.end;
  }
  return inOrder;
}

std::string Trace::eventsText(double zero) const {
  EventWriter events(rank, zero);
  events.name("process_name", concat("rank ", rank), Computation);
  events.name("thread_name", "computation", Computation);
  events.name("thread_name", "communication", Communication);
  std::map<const br_program *, int64_t> numbers;
  for (const Run &run : runsInOrder()) {
    events.span(concat(run.program->name, " ", ++numbers[run.program]), Computation, run.actions.front().begin,
                run.actions.back().end, "program", Json::object());
    for (const TimedAction &timed : run.actions) {
      const br_action_desc &action = run.program->actions[timed.action];
      events.span(shortName(action), Computation, timed.begin, timed.end, categoryOf(action), factsOf(action));
    }
  }
  for (const Operation &operation : operationsInOrder()) {
    if (!operation.program) {
      events.span("message between stages", Communication, operation.begin, operation.end, "message", Json::object());
      continue;
    }
    const br_action_desc &action = operation.program->actions[operation.action];
    events.span(shortName(action), Communication, operation.begin, operation.end, "collective", factsOf(action));
  }
  return events.text;
}

// Returns infinity for a rank without actions.
double Trace::firstBegin() const {
  double first = std::numeric_limits<double>::infinity();
  for (const Run &run : runs)
    if (!run.actions.empty())
      first = std::min(first, run.actions.front().begin);
  return first;
}

static std::string bytesOf(double value) { return {reinterpret_cast<const char *>(&value), sizeof value}; }

static double minOf(const std::vector<std::string> &values) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const std::string &bytes : values) {
    double value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    smallest = std::min(smallest, value);
  }
  return smallest;
}

void Trace::write(const GatherBlobs &gather) const {
  const double offset = clockOffset(gather, rank, clockOfHost(), secondsNow);
  // The first action of any rank is at 0, by rank 0's clock.
  const double zero = minOf(gather(bytesOf(firstBegin() - offset)));
  const std::vector<std::string> events = gather(eventsText(zero + offset));
  if (rank != 0)
    return;
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i)
    text += (i ? ",\n" : "") + events[i];
  text += "\n]}\n";
  File::createForWriting(path).write(text.data(), text.size());
}
