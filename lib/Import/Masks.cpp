//===- Masks.cpp - known tensors as masks of attention --------------------===//

#include "lib/Import/Masks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Each term of the band compares the positions s of a query and t of a key: s - t + c >= 0 says t <= s + c, and
/// t - s + w - 1 >= 0 says s - w < t.
tg::MaskAttr braid::recognizeMask(const Known &allowed, MLIRContext *context) {
  int64_t rank = allowed.shape.size();
  if (!allowed.band() || rank < 2)
    return {};
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
