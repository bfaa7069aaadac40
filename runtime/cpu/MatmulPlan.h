//===- MatmulPlan.h - the execution plan of a matmul ----------------------===//
//
// The constructor makes the choice (MatmulPlan.cpp), and run() executes it (MatmulRun.cpp). Matmul.h
// describes the modes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_MATMULPLAN_H
#define BRAID_CPU_MATMULPLAN_H

#include "braid_rt.h"
#include "cpu/MatmulOperand.h"

#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>
#include <string>
#include <vector>

namespace braid {

class MatmulPlan {
public:
  // Chooses and creates the primitives; `where` names the descriptor in errors.
  MatmulPlan(const br_matmul_desc &desc, int threads, const std::string &where);

  void run(const char *a, const char *b, char *c, const char *bias, char *workspace);

  std::string describe() const;
  // Whether oneDNN has only its reference loops for this layout.
  bool isSlow() const { return implementation.rfind("ref", 0) == 0; }

private:
  // Positions among the GEMMs that are added into one C: the first, a middle one, the last.
  enum Kind { First, Middle, Last, NumKinds };
  enum class Mode { Team, Items, Strips };

  // A thread's objects for executing a primitive.
  struct Slot {
    dnnl::memory a, b, c, bias, scratch;
    std::vector<dnnl_exec_arg_t> args;
    dnnl::stream stream;
  };
  struct Variant {
    dnnl::matmul::primitive_desc description;
    dnnl::matmul primitive;
    std::vector<Slot> slots;
  };
  // The operands of a full strip, or of the shorter last strip.
  struct Shape {
    MatmulOperand a, b, c;
    bool packA = false, packB = false, packC = false;
  };

  // Choice of the plan.
  void normalise();
  bool choose();
  bool tryMode(Mode newMode, int64_t parts, bool anyImplementation, int minWorkers = 1);
  bool createVariants(bool anyImplementation, uint64_t &scratch);
  bool createVariant(Variant &variant, const Shape &shape, Kind kind, bool anyImplementation, uint64_t &scratch);
  uint64_t bytesOfPanels() const;
  bool fitWorkers(uint64_t scratch, int minWorkers);
  void addSlots(Variant &variant);
  bool hasFastWhenDense();
  Shape shapeOf(int64_t rows) const;
  dnnl::primitive_attr attributes(Kind kind, int64_t rows) const;
  bool kindExists(Kind kind) const;
  Kind kindOf(int64_t gemm) const;
  bool addsToC(Kind kind) const;

  // Execution.
  void runItem(int worker, int64_t index, const char *a, const char *b, char *c, const char *bias, char *workspace);
  const char *place(bool pack, const MatmulOperand &from, const char *in, char *&free);
  void copy(const MatmulOperand &to, char *out, const MatmulOperand &from, const char *in);
  void execute(Variant &variant, int worker, const char *a, const char *b, char *c, const char *bias, char *scratch);

  br_matmul_desc d;        // normalised: rows of C are contiguous if one stride is 1
  bool transposed = false; // whether this needed C' = B' A'; the bias then has one value per row
  int threads;
  int64_t items = 1, gemms = 1;
  std::string where;

  Mode mode = Mode::Team;
  bool packing = false; // whether matrices that are not dense are packed
  bool paneled = false; // whether B is copied into panels once, for all workers
  int workers = 1;
  int64_t strips = 1, stripRows = 0;
  uint64_t scratchBytes = 0; // oneDNN's part of a slice
  uint64_t slice = 0;        // workspace bytes per worker, after the panels
  std::string implementation;
  dnnl::engine engine;
  Shape shapes[2]; // a full strip, and the shorter last strip
  Variant variants[NumKinds][2];
};

// Returns the offset of iteration `index` of the nested loops; the last loop is the innermost.
inline int64_t loopOffset(int64_t index, int32_t n, const int64_t *size, const int64_t *stride) {
  int64_t offset = 0;
  for (int32_t i = n - 1; i >= 0; --i) {
    offset += index % size[i] * stride[i];
    index /= size[i];
  }
  return offset;
}

inline uint64_t align64(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Whether `desc` describes a matrix in panels.
bool arePanels(const dnnl::memory::desc &desc);

// Copies panels [begin, end) of B to their places in `out`.
void copyPanels(const MatmulOperand &b, const char *in, char *out, int64_t begin, int64_t end);

} // namespace braid
#endif // BRAID_CPU_MATMULPLAN_H
