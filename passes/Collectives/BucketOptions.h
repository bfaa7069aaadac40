//===- BucketOptions.h - bucket sizes ---------------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H
#define BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H

#include "dialects/Comm/Comm.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// The value of `bucket-mb` or `first-bucket-mb`.
struct BucketSize {
  /// True when the size follows from the link rates; `bytes` is then unused.
  bool isAuto = false;
  int64_t bytes = 0;

  /// Parses a number of MiB, 0 for one tensor per bucket, `inf` or, if allowed, `auto`.
  static llvm::Expected<BucketSize> parse(llvm::StringRef option, llvm::StringRef text, bool mayBeAuto);
};

/// Returns the bytes of whole tensors at which latency is a twentieth of the time of their collective. Each
/// rank sends `sentPerByte` bytes per byte of a tensor.
int64_t worthwhileBytes(const LinkRates &link, comm::CollectiveOpInterface op, int64_t ranks, double sentPerByte);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H
