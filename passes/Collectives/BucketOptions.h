//===- BucketOptions.h - how large buckets are ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H
#define BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H

#include "dialects/Comm/Comm.h"
#include "lib/Cost/Machine.h"
#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// What `bucket-mb` or `first-bucket-mb` says.
struct BucketSize {
  /// As the link asks for; then there are no bytes.
  bool isAuto = false;
  int64_t bytes = 0;

  /// A number of MiB, 0 for one tensor each, `inf` or, if allowed, `auto`.
  static llvm::Expected<BucketSize> parse(llvm::StringRef option, llvm::StringRef text, bool mayBeAuto);
};

/// The bytes of whole tensors for which latency is a twentieth of the time of their
/// collective, where ranks send `sentPerByte`.
int64_t worthwhileBytes(const LinkRates &link, comm::CollectiveOpInterface op, int64_t ranks, double sentPerByte);

} // namespace braid

#endif // BRAID_PASSES_COLLECTIVES_BUCKETOPTIONS_H
