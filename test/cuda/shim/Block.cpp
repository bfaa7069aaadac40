//===- Block.cpp - runs the threads of a block ----------------------------===//
#include "Block.h"

#include "Allocations.h"
#include "Fibers.h"
#include "Violation.h"
#include "cuda/Access.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

using namespace shim;

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim{}, gridDim{};

namespace {

// Reasons to synchronize.
enum class Sync { None, Block, Group, Shuffle };

struct Thread {
  Sync waits = Sync::None;
  bool done = false, entered = false;
  unsigned mask = 0;
  Site site;
  Fiber *fiber = nullptr;
  WarpClock clock;
  // Data of a shuffle.
  int source = 0;
  size_t bytes = 0;
  alignas(16) char given[16], got[16];
};

// The blocks of a launch, one after the other, on one thread of the host.
class Runner {
public:
  Ran run(dim3 blocks, dim3 threads, const std::function<void()> &thread, bool beginsEarly);
  void checkEntered(const char *what);
  void touch(Allocation &allocation);

  void syncBlock(const Site &site);
  void syncGroup(Sync sync, unsigned mask, const Site &site);
  Thread &current() { return threads[running]; }
  Accessor accessor() const { return {launch, block, now, uint16_t(running), &threads[running].clock}; }
  bool isRunning() const { return body; }
  std::string describe(unsigned thread) const;

private:
  void runBlock();
  void fiberBody();
  void goOn(); // leaves this thread for another that can run
  void enter(unsigned thread);
  void finishShuffle(unsigned warp, unsigned mask);
  void finishGroup(unsigned warp, unsigned mask);
  [[noreturn]] void stuck();

  const std::function<void()> *body = nullptr;
  bool beginsEarly = false;
  std::vector<Thread> threads;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *> idle;
  std::vector<unsigned> ready; // a queue: [head, end)
  size_t head = 0;
  unsigned fresh = 0, running = 0, done = 0, atBarrier = 0;
  std::jmp_buf scheduler;
  Segment launch = 0, block = 0, now = 0;
  std::vector<Allocation *> touched;
};

thread_local Runner runner;

std::string place(const Site &site) {
  const char *name = std::strrchr(site.file_name(), '/');
  return format("%s:%u", name ? name + 1 : site.file_name(), unsigned(site.line()));
}

const char *nameOf(Sync sync) {
  switch (sync) {
  case Sync::Block:
    return "the block's barrier";
  case Sync::Group:
    return "a group's barrier";
  case Sync::Shuffle:
    return "a shuffle";
  case Sync::None:
    break;
  }
  return "nothing";
}

bool sameSite(const Site &a, const Site &b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || !std::strcmp(a.file_name(), b.file_name()));
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

Ran Runner::run(dim3 blocks, dim3 size, const std::function<void()> &thread, bool early) {
  body = &thread;
  beginsEarly = early;
  touched.clear();
  threads.assign(size.x, Thread());
  blockDim = size;
  gridDim = blocks;
  launch = nextSegment();
  for (unsigned b = 0; b < blocks.x; ++b) {
    blockIdx = {b, 0, 0};
    block = now = nextSegment();
    runBlock();
  }
  body = nullptr;
  return {launch, std::move(touched)};
}

void Runner::runBlock() {
  for (Thread &thread : threads)
    thread.done = thread.entered = false;
  fresh = done = atBarrier = 0;
  ready.clear();
  head = 0;
  while (done < threads.size()) {
    if (head < ready.size()) {
      enter(ready[head++]);
      current().fiber->resume(scheduler);
    } else if (fresh < threads.size()) {
      if (idle.empty()) {
        fibers.push_back(std::make_unique<Fiber>([this] { fiberBody(); }));
        idle.push_back(fibers.back().get());
      }
      Fiber *fiber = idle.back();
      idle.pop_back();
      enter(fresh++);
      current().fiber = fiber;
      fiber->resume(scheduler);
    } else {
      stuck();
    }
  }
}

// Runs threads to their ends, one after the other; switches when one waits.
void Runner::fiberBody() {
  while (true) {
    (*body)();
    checkEntered("end of a thread");
    Thread &thread = current();
    thread.done = true;
    ++done;
    Fiber *self = thread.fiber;
    if (head == ready.size() && fresh < threads.size()) {
      enter(fresh++);
      current().fiber = self;
      continue;
    }
    idle.push_back(self);
    if (!_setjmp(self->place))
      _longjmp(scheduler, 1);
  }
}

void Runner::touch(Allocation &allocation) {
  if (std::find(touched.begin(), touched.end(), &allocation) == touched.end())
    touched.push_back(&allocation);
}

// After its wait, a thread sees the complete kernel in front.
void Runner::checkEntered(const char *what) {
  if (beginsEarly && !current().entered)
    violation(
        format("%s before the kernels in front have ended, which this one was launched to wait for itself,", what));
}

void Runner::enter(unsigned thread) {
  running = thread;
  threadIdx = {thread, 0, 0};
}

void Runner::goOn() {
  Fiber *self = current().fiber;
  if (!_setjmp(self->place))
    _longjmp(scheduler, 1);
}

std::string Runner::describe(unsigned thread) const {
  const Thread &t = threads[thread];
  if (t.done)
    return format("thread %u has ended", thread);
  std::string text = format("thread %u is at %s in %s", thread, nameOf(t.waits), place(t.site).c_str());
  return t.waits == Sync::Block ? text : text + format(" with mask %#x", t.mask);
}

// All threads wait for a thread that never arrives.
void Runner::stuck() {
  for (unsigned i = 0; i < threads.size(); ++i) {
    const Thread &t = threads[i];
    if (t.done)
      continue;
    enter(i);
    bool whole = t.waits == Sync::Block;
    unsigned first = whole ? 0 : i / 32 * 32,
             last = whole ? threads.size() : std::min<size_t>(first + 32, threads.size());
    for (unsigned j = first; j < last; ++j) {
      const Thread &other = threads[j];
      if (!whole && !(t.mask >> (j - first) & 1))
        continue;
      if (other.done || other.waits != t.waits || !sameSite(other.site, t.site) || other.mask != t.mask)
        violation("divergence: " + describe(i) + ", but " + describe(j));
    }
    if (!whole && last - first < 32 && t.mask >> (last - first))
      violation(format("divergence: %s, but the warp has only %u threads", describe(i).c_str(), last - first));
  }
  violation("divergence: no thread of the block can go on");
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

void Runner::syncBlock(const Site &site) {
  Thread &thread = current();
  thread.waits = Sync::Block;
  thread.mask = 0;
  thread.site = site;
  if (++atBarrier < threads.size())
    return goOn();
  for (unsigned i = 0; i < threads.size(); ++i) {
    if (!sameSite(threads[i].site, site))
      violation("divergence: " + describe(running) + ", but " + describe(i));
    threads[i].waits = Sync::None;
  }
  atBarrier = 0;
  now = nextSegment();
  ready.clear();
  head = 0;
  for (unsigned i = 0; i < threads.size(); ++i)
    if (i != running)
      ready.push_back(i);
}

void Runner::syncGroup(Sync sync, unsigned mask, const Site &site) {
  Thread &thread = current();
  thread.waits = sync;
  thread.mask = mask;
  thread.site = site;
  unsigned first = running / 32 * 32, lane = running % 32;
  if (!(mask >> lane & 1))
    violation(format("%s with mask %#x, which leaves out the thread's own lane %u,", nameOf(sync), mask, lane));
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    unsigned i = first + __builtin_ctz(rest);
    if (i >= threads.size() || threads[i].done || threads[i].waits != sync || threads[i].mask != mask ||
        !sameSite(threads[i].site, site))
      return goOn();
  }
  if (sync == Sync::Shuffle)
    finishShuffle(first, mask);
  else
    finishGroup(first, mask);
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    unsigned i = first + __builtin_ctz(rest);
    threads[i].waits = Sync::None;
    if (i != running)
      ready.push_back(i);
  }
}

void Runner::finishShuffle(unsigned first, unsigned mask) {
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    Thread &thread = threads[first + __builtin_ctz(rest)];
    if (thread.source < 0 || thread.source > 31 || !(mask >> thread.source & 1)) {
      enter(first + __builtin_ctz(rest));
      violation(format("shuffle from lane %d, which is not in the mask %#x,", thread.source, mask));
    }
    std::memcpy(thread.got, threads[first + thread.source].given, thread.bytes);
  }
}

void Runner::finishGroup(unsigned first, unsigned mask) {
  WarpClock joined;
  uint32_t count = 0;
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    const WarpClock &clock = threads[first + lane].clock;
    for (unsigned i = 0; i < 32; ++i)
      joined.known[i] = std::max(joined.known[i], clock.known[i]);
    count = std::max(count, clock.known[lane] + 1);
  }
  for (unsigned rest = mask; rest; rest &= rest - 1)
    joined.known[__builtin_ctz(rest)] = count;
  for (unsigned rest = mask; rest; rest &= rest - 1)
    threads[first + __builtin_ctz(rest)].clock = joined;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Allocation &checkedAllocation(const void *pointer, size_t bytes, size_t align, const char *access) {
  if (!runner.isRunning())
    violation(format("%s of device memory outside a kernel", access), false);
  runner.checkEntered(access);
  Allocation *allocation = findAllocation(pointer);
  if (!allocation) {
    std::string where = format("%p", pointer);
    if (Allocation *near = nearestAllocation(pointer)) {
      ptrdiff_t offset = static_cast<const char *>(pointer) - near->base;
      where = offset < 0 ? format("%td bytes before allocation %d of %zu bytes", -offset, near->id, near->bytes)
                         : format("at byte %td of allocation %d of %zu bytes", offset, near->id, near->bytes);
    }
    violation(format("%s of %zu bytes outside of device memory, %s,", access, bytes, where.c_str()));
  }
  size_t offset = static_cast<const char *>(pointer) - allocation->base;
  if (!allocation->holds(pointer, bytes))
    violation(format("%s of %zu bytes at byte %zu, beyond the end of allocation %d of %zu bytes,", access, bytes,
                     offset, allocation->id, allocation->bytes));
  if (allocation->device < 0)
    violation(format("%s of %zu bytes of the host's memory", access, bytes));
  if (reinterpret_cast<uintptr_t>(pointer) % align)
    violation(format("misaligned %s of %zu bytes at byte %zu of allocation %d: aligned to %zu it must be,", access,
                     bytes, offset, allocation->id, align));
  runner.touch(*allocation);
  return *allocation;
}

[[noreturn]] void globalViolation(const std::string &what, const Allocation &allocation, const void *pointer) {
  violation(format("%s at byte %td of allocation %d,", what.c_str(),
                   static_cast<const char *>(pointer) - allocation.base, allocation.id));
}

// Shared memory that a block has without requesting more at launch.
constexpr size_t staticSharedBytes = 48 << 10;

// Shadows of the arrays in shared memory, for this host thread. The first write in a block registers an array; writes
// of older segments do not count.
struct SharedArrays {
  struct Array {
    size_t bytes;
    Segment block;
    Shadow shadow;
  };
  std::unordered_map<const void *, Array> arrays;

  Shadow &of(const void *array, size_t bytes, Segment block) {
    auto entry = arrays.find(array);
    // Creates nothing if the shadow exists, as for most accesses.
    if (entry == arrays.end() || entry->second.bytes != bytes)
      entry = arrays.insert_or_assign(array, Array{bytes, 0, Shadow(bytes)}).first;
    if (entry->second.block != block) {
      entry->second.shadow.forget();
      entry->second.block = block;
      take(bytes, block);
    }
    return entry->second.shadow;
  }

private:
  // Total size of the running block's arrays.
  Segment running = 0;
  size_t taken = 0;

  void take(size_t bytes, Segment block) {
    taken = (running == block ? taken : 0) + bytes;
    running = block;
    if (taken > staticSharedBytes)
      violation(format("a block takes %zu bytes of static shared memory, and has %zu,", taken, staticSharedBytes));
  }
};
thread_local SharedArrays sharedArrays;

void checkShared(const void *array, size_t total, ptrdiff_t offset, size_t bytes, const Site &site, bool isStore) {
  const char *access = isStore ? "write" : "read";
  if (!runner.isRunning())
    violation(format("%s of shared memory outside a kernel", access), false);
  if (offset < 0 || size_t(offset) + bytes > total)
    violation(format("%s of %zu bytes at byte %td of an array of %zu bytes in shared memory in %s,", access, bytes,
                     offset, total, place(site).c_str()));
  Accessor accessor = runner.accessor();
  Shadow &shadow = sharedArrays.of(array, total, accessor.block);
  std::string wrong = isStore ? shadow.store(accessor, offset, bytes) : shadow.load(accessor, offset, bytes);
  if (!wrong.empty())
    violation(format("%s at byte %td of an array in shared memory in %s,", wrong.c_str(), offset, place(site).c_str()));
}

} // namespace

void shim::checkLoad(const void *pointer, size_t bytes, size_t align) {
  Allocation &allocation = checkedAllocation(pointer, bytes, align, "read");
  std::string wrong =
      allocation.shadow->load(runner.accessor(), static_cast<const char *>(pointer) - allocation.base, bytes);
  if (!wrong.empty())
    globalViolation(wrong, allocation, pointer);
}

void shim::checkStore(void *pointer, size_t bytes, size_t align) {
  Allocation &allocation = checkedAllocation(pointer, bytes, align, "write");
  std::string wrong =
      allocation.shadow->store(runner.accessor(), static_cast<const char *>(pointer) - allocation.base, bytes);
  if (!wrong.empty())
    globalViolation(wrong, allocation, pointer);
}

void shim::checkPrefetch(const void *pointer) { checkedAllocation(pointer, 1, 1, "prefetch"); }

void shim::checkSharedLoad(const void *array, size_t total, ptrdiff_t offset, size_t bytes, const Site &site) {
  checkShared(array, total, offset, bytes, site, false);
}
void shim::checkSharedStore(void *array, size_t total, ptrdiff_t offset, size_t bytes, const Site &site) {
  checkShared(array, total, offset, bytes, site, true);
}

void shim::enterKernel() { runner.current().entered = true; }
void shim::blockBarrier(const Site &site) { runner.syncBlock(site); }
void shim::groupBarrier(unsigned mask, const Site &site) { runner.syncGroup(Sync::Group, mask, site); }

void shim::shuffle(unsigned mask, int lane, const void *from, void *to, size_t bytes, const Site &site) {
  if (bytes > sizeof(Thread::given))
    violation(format("shuffle of %zu bytes", bytes));
  Thread &thread = runner.current();
  std::memcpy(thread.given, from, bytes);
  thread.source = lane;
  thread.bytes = bytes;
  runner.syncGroup(Sync::Shuffle, mask, site);
  std::memcpy(to, runner.current().got, bytes);
}

int shim::ownLane() { return threadIdx.x % 32; }

Ran shim::runBlocks(dim3 blocks, dim3 threads, const std::function<void()> &thread, bool beginsEarly) {
  return runner.run(blocks, threads, thread, beginsEarly);
}
