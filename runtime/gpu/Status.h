//===- Status.h - results of GPU calls ------------------------------------===//
//
// While a model is made, a call that fails throws.  While a program runs, nothing may throw through
// generated code.  Then the first error is kept with the failed call or kernel and the current
// graph op,
//
//   train, action 12 (layer_norm -> h.0.ln_1 [256 x 768]): k3_kernel:
//     cudaErrorInvalidConfiguration (9): invalid configuration argument
//
// and thrown when the program has ended.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STATUS_H
#define BRAID_GPU_STATUS_H

#include "braid_rt.h"

#include <string>

namespace braid {

// Result of a call of the vendor's runtime library.
struct [[nodiscard]] GpuStatus {
  int code = 0;          // the vendor's; 0 is success
  const char *call = ""; // name of the vendor's function

  bool isGood() const { return code == 0; }
  // Returns "cudaErrorInvalidConfiguration (9): invalid configuration argument".
  std::string describe() const;
  // Throws Error if the call failed.  `purpose` follows the name of the call.
  void check(const char *purpose = "") const;
};

// Clears the vendor's last error, which the next call would repeat.
void clearGpuError();

// Returns the name of a kernel without namespaces and arguments: "k3_kernel".
std::string nameOfKernel(const void *kernel);

// The first error in any program of a model.
class ProgramErrors {
public:
  // Set the running program, and its current action.
  void enter(const br_program &next) { program = &next, action = -1; }
  void at(int32_t next) { action = next; }

  // `purpose` follows the name of the call.
  void note(const GpuStatus &status, const char *purpose = "");
  // The error message of a library.
  void note(const std::string &text);

  bool any() const { return !first.empty(); }
  const std::string &text() const { return first; }

  // Returns "matmul -> h.0.mlp [256 x 3072]"; empty between programs and for actions without a name.
  const char *actionName() const;

private:
  std::string place() const;

  const br_program *program = nullptr;
  int32_t action = -1;
  std::string first;
};

} // namespace braid
#endif // BRAID_GPU_STATUS_H
