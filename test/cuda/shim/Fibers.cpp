//===- Fibers.cpp - stacks that take turns --------------------------------===//
#include "Fibers.h"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>

using namespace shim;

namespace {
constexpr size_t guardBytes = 4096, stackBytes = 256 * 1024;
}

Fiber::Fiber(std::function<void()> body) : body(std::move(body)) {
  stack = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, guardBytes, PROT_NONE))
    throw std::bad_alloc();
}

Fiber::~Fiber() { munmap(stack, stackBytes + guardBytes); }

void Fiber::start(unsigned low, unsigned high) {
  reinterpret_cast<Fiber *>(uint64_t(high) << 32 | low)->body();
  std::abort();
}

[[gnu::noinline]] void Fiber::resume(std::jmp_buf &from) {
  if (_setjmp(from))
    return;
  if (started)
    _longjmp(place, 1);
  started = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = static_cast<char *>(stack) + guardBytes;
  context.uc_stack.ss_size = stackBytes;
  context.uc_link = nullptr;
  auto self = reinterpret_cast<uint64_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::start), 2, unsigned(self), unsigned(self >> 32));
  setcontext(&context);
}
