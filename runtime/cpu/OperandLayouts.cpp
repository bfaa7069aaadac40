//===- OperandLayouts.cpp - operand layouts of oneDNN kernels -------------===//
//
// bf16 numbers are moved in vectors of 64 bytes: 32 numbers, or 16 pairs. The compiler chooses the
// instructions, for processors with AVX-512, which oneDNN also needs to multiply bf16.
//
//===----------------------------------------------------------------------===//

#include "cpu/MatmulPlan.h"

#include "MatmulPanels.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace braid;

#if defined(__x86_64__)
#define LANES [[gnu::always_inline, gnu::target("avx512f,avx512bw")]] static inline
#define LOOPS [[gnu::target("avx512f,avx512bw")]] static
#else
#define LANES [[gnu::always_inline]] static inline
#define LOOPS static
#endif

typedef uint16_t Halves __attribute__((vector_size(64)));
typedef uint32_t Pairs __attribute__((vector_size(64)));

constexpr int64_t kHalves = 32, kPairs = 16;
constexpr int64_t kPanel = panelColumns;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

// Loads the first `count` numbers, zero-padded.
LANES Halves load(const uint16_t *from, int64_t count) {
  Halves halves = {};
  if (count >= kHalves)
    std::memcpy(&halves, from, sizeof halves);
  else if (count > 0)
    std::memcpy(&halves, from, count * sizeof *from);
  return halves;
}
LANES void store(uint16_t *to, Pairs pairs) { std::memcpy(to, &pairs, sizeof pairs); }

// Returns pairs of numbers from two rows, starting at number 16 * Half.
template <int Half, int... L> LANES Pairs pairsOf(Halves even, Halves odd, std::integer_sequence<int, L...>) {
  return (Pairs)__builtin_shufflevector(even, odd, (16 * Half + L / 2 + L % 2 * 32)...);
}
template <int Half> LANES Pairs pairsOf(Halves even, Halves odd) {
  return pairsOf<Half>(even, odd, std::make_integer_sequence<int, 32>());
}

// One step of a transpose: swaps pairs between each two rows whose indices differ in bit H.
template <int H, int... L> LANES void swapHalves(Pairs (&row)[kPairs], std::integer_sequence<int, L...>) {
#pragma GCC unroll 16
  for (int i = 0; i < kPairs; ++i)
    if (!(i & H)) {
      const Pairs a = row[i], b = row[i + H];
      row[i] = __builtin_shufflevector(a, b, (L & H ? 16 + L - H : L)...);
      row[i + H] = __builtin_shufflevector(a, b, (L & H ? 16 + L : L + H)...);
    }
}
LANES void transpose(Pairs (&row)[kPairs]) {
  constexpr std::make_integer_sequence<int, kPairs> lanes;
  swapHalves<1>(row, lanes);
  swapHalves<2>(row, lanes);
  swapHalves<4>(row, lanes);
  swapHalves<8>(row, lanes);
}

//===----------------------------------------------------------------------===//
// Panels of B
//===----------------------------------------------------------------------===//

bool braid::arePanels(const dnnl::memory::desc &desc) {
  const dnnl_memory_desc_t &layout = desc.data;
  const dnnl_blocking_desc_t &blocks = layout.format_desc.blocking;
  const auto are = [&](const dnnl_dim_t(&found)[DNNL_MAX_NDIMS], std::initializer_list<dnnl_dim_t> wanted) {
    return std::equal(wanted.begin(), wanted.end(), found);
  };
  return layout.format_kind == dnnl_blocked && layout.data_type == dnnl_bf16 && layout.ndims == 2 &&
         layout.offset0 == 0 && blocks.inner_nblks == 3 && are(blocks.inner_blks, {16, kPanel, 2}) &&
         are(blocks.inner_idxs, {0, 1, 0}) && blocks.strides[0] == panelRowMultiple * kPanel &&
         blocks.strides[1] == layout.padded_dims[0] * kPanel && layout.padded_dims[0] == panelHeight(layout.dims[0]);
}

// For B stored by rows: takes a few rows at a time and reads each along all panels.
LOOPS void copyPanelsOfRows(const MatmulOperand &b, const uint16_t *in, uint16_t *out, int64_t begin, int64_t end) {
  constexpr int64_t rowsAtOnce = 8;
  const int64_t rows = panelHeight(b.rows);
  for (int64_t first = 0; first < rows; first += rowsAtOnce)
    for (int64_t panel = begin; panel < end; ++panel)
      for (int64_t row = first; row < first + rowsAtOnce; row += 2) {
        uint16_t *to = out + (panel * rows + row) * kPanel;
        for (int64_t column = 0; column < kPanel; column += kHalves) {
          const uint16_t *from = in + row * b.byRow + panel * kPanel + column;
          const int64_t count = b.columns - panel * kPanel - column;
          const Halves even = load(from, row < b.rows ? count : 0);
          const Halves odd = load(from + b.byRow, row + 1 < b.rows ? count : 0);
          store(to + 2 * column, pairsOf<0>(even, odd));
          store(to + 2 * column + kHalves, pairsOf<1>(even, odd));
        }
      }
}

// For B stored by columns: takes 16 columns at a time and reads each to its end.
LOOPS void copyPanelsOfColumns(const MatmulOperand &b, const uint16_t *in, uint16_t *out, int64_t begin, int64_t end) {
  const int64_t rows = panelHeight(b.rows);
  for (int64_t first = begin * kPanel; first < end * kPanel; first += kPairs)
    for (int64_t row = 0; row < rows; row += kHalves) {
      Pairs block[kPairs];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kPairs; ++i)
        block[i] = (Pairs)load(in + (first + i) * b.byColumn + row, first + i < b.columns ? b.rows - row : 0);
      transpose(block);
      uint16_t *to = out + (first / kPanel * rows + row) * kPanel + first % kPanel * 2;
#pragma GCC unroll 16
      for (int64_t i = 0; i < kPairs; ++i)
        store(to + i * 2 * kPanel, block[i]);
    }
}

void braid::copyPanels(const MatmulOperand &b, const char *in, char *out, int64_t begin, int64_t end) {
  const auto copy = b.isRowMajor() ? copyPanelsOfRows : copyPanelsOfColumns;
  copy(b, reinterpret_cast<const uint16_t *>(in), reinterpret_cast<uint16_t *>(out), begin, end);
}
