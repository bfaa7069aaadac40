//===- Masks.cpp - known tensors as masks of attention --------------------===//

#include "lib/Import/Masks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Masks that are known pair by pair: a causal one, perhaps with a window, is found by its last query and then
/// compared.
static tg::MaskAttr recognizePairs(const Known &allowed, MLIRContext *context) {
  int64_t rank = allowed.shape.size(), queries = allowed.shape[rank - 2], keys = allowed.shape[rank - 1];
  std::optional<std::vector<double>> pairs = allowed.numbers();
  if (!pairs || pairs->empty() || queries != keys)
    return {};
  int64_t window = 0;
  for (int64_t key = 0; key < keys; ++key)
    window += (*pairs)[(queries - 1) * keys + key] != 0;
  bool isCausal = queries > 1 && (*pairs)[keys - 1] == 0;
  for (size_t i = 0; i < pairs->size(); ++i) {
    int64_t query = i / keys % queries, key = i % keys;
    bool expected = !isCausal || (key <= query && key > query - window);
    if (((*pairs)[i] != 0) != expected)
      return {};
  }
  return tg::MaskAttr::get(context, isCausal, isCausal && window < keys ? window : 0);
}

/// Each term of the band compares the positions s of a query and t of a key: s - t + c >= 0 says t <= s + c, and
/// t - s + w - 1 >= 0 says s - w < t.
tg::MaskAttr braid::recognizeMask(const Known &allowed, MLIRContext *context) {
  int64_t rank = allowed.shape.size();
  if (rank < 2)
    return {};
  if (!allowed.band())
    return allowed.affine() ? tg::MaskAttr() : recognizePairs(allowed, context);
  bool isCausal = false;
  int64_t window = 0;
  for (const Affine &term : allowed.band()->terms) {
    ArrayRef<int64_t> factors = term.factors;
    int64_t query = factors[rank - 2], key = factors[rank - 1];
    bool isOfPair = all_of(factors.drop_back(2), [](int64_t factor) { return factor == 0; });
    if (!isOfPair || query != -key)
      return {};
    if (query == 1 && term.constant == 0)
      isCausal = true;
    else if (key == 1 && term.constant >= 0)
      window = window ? std::min(window, term.constant + 1) : term.constant + 1;
    else
      return {};
  }
  if (window && !isCausal)
    return {};
  if (isCausal && allowed.shape[rank - 2] != allowed.shape[rank - 1])
    return {};
  return tg::MaskAttr::get(context, isCausal, window);
}
