//===- Fibers.h - stacks that take turns ----------------------------------===//
//
// A fiber is a stack and the place where it stopped. makecontext makes the first frame. Later switches use _setjmp and
// _longjmp, which make no system call, unlike swapcontext.
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
  // `body` never returns: it finally switches away.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber &) = delete;

  // Saves the current place as `from`, and continues this fiber.
  void resume(std::jmp_buf &from);
  // The place where the fiber has stopped while another one runs.
  std::jmp_buf place;

private:
  static void start(unsigned low, unsigned high);

  std::function<void()> body;
  void *stack;
  bool started = false;
};

} // namespace shim
#endif // BRAID_SHIM_FIBERS_H
