//===- Fibers.h - stacks that take turns ----------------------------------===//
//
// A fiber is a stack and the place where it stopped.  makecontext makes the first frame,
// and the others are reached by _setjmp and _longjmp, which, unlike swapcontext, make no
// system call.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_FIBERS_H
#define BRAID_SHIM_FIBERS_H

#include <csetjmp>
#include <functional>
#include <memory>
#include <vector>

namespace shim {

class Fiber {
public:
  // `body` never returns: it switches away for good.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber &) = delete;

  // Leaves the place that runs now as `from`, and goes on with this fiber.
  void resume(std::jmp_buf &from);
  // Where the fiber stops while another runs.
  std::jmp_buf place;

private:
  static void start(unsigned low, unsigned high);

  std::function<void()> body;
  void *stack;
  bool started = false;
};

} // namespace shim
#endif // BRAID_SHIM_FIBERS_H
