//===- MatmulPlan.h - how one matrix product runs ---------------------------===//
#ifndef BRAID_CPU_MATMULPLAN_H
#define BRAID_CPU_MATMULPLAN_H

#include "braid_rt.h"

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
  // oneDNN has only its reference loops for this layout.
  bool isSlow() const { return implementation.rfind("ref", 0) == 0; }

private:
  // The products added into one C: the first, those in between, the last.
  enum Kind { First, Middle, Last, NumKinds };

  // What one thread needs to execute a primitive.
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
  enum class Mode { Team, Items, Strips };

  bool tryMode(Mode mode, int insideThreads, bool anyImplementation);
  bool createVariant(Variant &variant, int64_t rows, Kind kind,
                     bool anyImplementation, uint64_t &scratch);
  void addSlots(Variant &variant);
  dnnl::primitive_attr attributes(Kind kind, int64_t rows) const;
  bool kindExists(Kind kind) const;
  Kind kindOf(int64_t product) const;
  void runItems(int worker, int64_t begin, int64_t end, const char *a,
                const char *b, char *c, const char *bias, char *workspace);
  void execute(Variant &variant, int worker, const char *a, const char *b, char *c,
               const char *bias, char *workspace);

  br_matmul_desc d; // normalised: rows of C are contiguous, where one stride is 1
  bool transposed = false; // C' = B' A' was needed for that; bias runs down the rows
  int threads;
  int64_t items = 1, products = 1;

  Mode mode = Mode::Team;
  int workers = 1;
  int64_t strips = 1, stripRows = 0;
  uint64_t slice = 0; // workspace bytes of one worker
  std::string implementation;
  dnnl::engine engine;
  Variant variants[NumKinds][2]; // whole strips, and the shorter last one
};

} // namespace braid
#endif // BRAID_CPU_MATMULPLAN_H
