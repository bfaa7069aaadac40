//===- Failure.h - an error from a format -----------------------*- C++ -*-===//
#ifndef BRAID_LIB_PIPELINE_FAILURE_H
#define BRAID_LIB_PIPELINE_FAILURE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace braid::pipeline {

template <typename... Args> llvm::Error failure(const char *format, Args &&...args) {
  return llvm::createStringError(llvm::formatv(format, std::forward<Args>(args)...).str());
}

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_FAILURE_H
