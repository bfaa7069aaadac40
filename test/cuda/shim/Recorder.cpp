//===- Recorder.cpp - what a program did, a JSON line each ----------------===//
#include "Recorder.h"

#include "Violation.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

using namespace shim;

namespace {

struct Files {
  std::mutex mutex;
  const char *prefix = std::getenv("BRAID_SHIM_TRACE");
  std::map<int, FILE *> byOwner;
  std::string everywhere; // what stands in every file: allocations

  FILE *of(int owner) {
    FILE *&file = byOwner[owner];
    if (!file) {
      file = std::fopen(format("%s.%d.jsonl", prefix, owner).c_str(), "w");
      if (!file) {
        std::fprintf(stderr, "error: cannot write the trace %s.%d.jsonl\n", prefix, owner);
        std::_Exit(1);
      }
      std::fputs(everywhere.c_str(), file);
    }
    return file;
  }
};
Files &files() {
  static auto *all = [] {
    std::atexit(flushTraces);
    return new Files; // outlives everything
  }();
  return *all;
}

thread_local Action action;

void escape(std::string &to, const std::string &text) {
  to += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      to += '\\';
    to += c;
  }
  to += '"';
}

} // namespace

bool shim::tracing() { return files().prefix; }

int shim::hostId() {
  static std::atomic<int> count{0};
  thread_local int id = count++;
  return id;
}

Action shim::currentAction() { return action; }

// Programs report their actions to the runtime, and read its state at their ends. With --wrap, these calls come here
// first.
extern "C" {
struct br_context;
[[gnu::weak]] void __real_br_action(br_context *context, int32_t index);
[[gnu::weak]] int __real_br_cuda_status(br_context *context);
int __wrap_br_cuda_status(br_context *context) {
  action.index = -1;
  return __real_br_cuda_status ? __real_br_cuda_status(context) : 0;
}
void __wrap_br_action(br_context *context, int32_t index) {
  action.run += index == 0;
  action.index = index;
  if (__real_br_action)
    __real_br_action(context, index);
}
}

Line::Line(const Issue &issue, const char *op) {
  text = format("{\"n\": %llu, \"op\": \"%s\", \"stream\": %d, \"host\": %d", (unsigned long long)issue.n, op,
                issue.stream, issue.host);
  if (issue.action.index >= 0)
    field("run", issue.action.run).field("action", issue.action.index);
  if (issue.graph >= 0)
    text += format(", \"graph\": [%d, %d]", issue.graph, issue.replay);
}

Line &Line::field(const char *name, int64_t value) {
  text += format(", \"%s\": %lld", name, (long long)value);
  return *this;
}

Line &Line::field(const char *name, const std::string &value) {
  text += format(", \"%s\": ", name);
  escape(text, value);
  return *this;
}

Line &Line::pieces(const char *name, const std::vector<std::pair<const void *, size_t>> &pieces) {
  text += format(", \"%s\": [", name);
  bool first = true;
  for (auto [pointer, bytes] : pieces)
    if (Allocation *allocation = bytes ? findAllocation(pointer) : nullptr) {
      size_t begin = static_cast<const char *>(pointer) - allocation->base;
      text += format("%s[%d, %zu, %zu]", first ? "" : ", ", allocation->id, begin, begin + bytes);
      first = false;
    }
  text += "]";
  return *this;
}

Line &Line::range(const char *name, const void *pointer, size_t bytes) { return pieces(name, {{pointer, bytes}}); }

void Line::write(int owner) {
  std::lock_guard lock(files().mutex);
  text += "}\n";
  std::fputs(text.c_str(), files().of(owner));
}

void shim::recordAllocation(const Allocation &allocation) {
  if (!tracing())
    return;
  std::lock_guard lock(files().mutex);
  std::string line = format("{\"op\": \"allocate\", \"allocation\": %d, \"device\": %d, \"bytes\": %zu}\n",
                            allocation.id, allocation.device, allocation.bytes);
  files().everywhere += line;
  for (auto &[owner, file] : files().byOwner)
    std::fputs(line.c_str(), file);
}

void shim::flushTraces() {
  for (auto &[owner, file] : files().byOwner)
    std::fflush(file);
}
