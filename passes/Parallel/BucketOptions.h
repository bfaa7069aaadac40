//===- BucketOptions.h - how large buckets are ------------------*- C++ -*-===//
#ifndef BRAID_PASSES_PARALLEL_BUCKETOPTIONS_H
#define BRAID_PASSES_PARALLEL_BUCKETOPTIONS_H

#include "dialects/Comm/Comm.h"
#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// What `bucket-mb` or `first-bucket-mb` says.
struct BucketSize {
  /// Of the link model; then there are no bytes.
  bool isAuto = false;
  int64_t bytes = 0;

  /// A number of MiB, 0 for one tensor each, `inf` or, if allowed, `auto`.
  static llvm::Expected<BucketSize> parse(llvm::StringRef option, llvm::StringRef text, bool mayBeAuto);
};

/// A link as `latency_us,GBps`.
struct BucketLink {
  double latency, bytesPerSecond;

  static llvm::Expected<BucketLink> parse(llvm::StringRef text);
  /// The bytes of tensors for which latency is a twentieth of the time of their
  /// collective, which is latency + bytes sent / rate, where a rank sends
  /// `sentPerByte`.
  int64_t worthwhileBytes(double sentPerByte) const;
};

/// The larger of what a rank gives and gets: the whole tensors.
int64_t wholeBytes(comm::CollectiveOpInterface op);

} // namespace braid

#endif // BRAID_PASSES_PARALLEL_BUCKETOPTIONS_H
